"""The audit log: one JSON line for each request and stage that the policy selects."""

from __future__ import annotations

import os
from pathlib import Path

from podless.runtime.dataclass import dataclass
from podless.runtime.option import file_option, option, parse_megabytes, parse_number


@dataclass(frozen=True, slots=True)
class Audit:
    """The settings of the audit log; each field's help text describes it. policy: None: metadata of every request.

    size: in bytes, 0 for never. backups: 0 for all.
    """

    path: str | os.PathLike[str] = option(
        "--audit-log-path",
        "file for audit events, one JSON object per line; - for standard output",
        metavar="FILE",
        parse=Path,
    )
    policy: str | os.PathLike[str] | None = file_option(
        "--audit-policy-file", "audit.k8s.io/v1 Policy file. Default: log the metadata of every request"
    )
    size: int = option(
        "--audit-log-maxsize",
        "size at which to start a new file, in MB",
        value=100 << 20,
        metavar="MB",
        parse=parse_megabytes,
        default="100",
    )
    backups: int = option(
        "--audit-log-maxbackup", "number of old files to keep", value=10, metavar="N", parse=parse_number
    )
