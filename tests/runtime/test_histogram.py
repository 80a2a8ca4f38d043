"""Histograms count what Prometheus expects."""

from __future__ import annotations

from podless.runtime.histogram import Histogram


def test_a_bucket_counts_all_up_to_its_end() -> None:
    times = Histogram((0.1, 1.0))
    for seconds in (0.05, 0.1, 0.5, 3.0):
        times.observe_seconds(seconds)
    assert "".join(times.format_samples("x", 'verb="GET"')).splitlines() == [
        'x_bucket{verb="GET",le="0.1"} 2',
        'x_bucket{verb="GET",le="1.0"} 3',
        'x_bucket{verb="GET",le="+Inf"} 4',
        'x_sum{verb="GET"} 3.65',
        'x_count{verb="GET"} 4',
    ]
    assert "".join(times.format_samples("x", "")).startswith('x_bucket{le="0.1"} 2\n')
