"""Benchmarks: numbers to look at, never asserted.

Each module has `main(smoke)`, which prints for people and gives its figures back; `python -m bench` runs them.
record/ keeps figures and shows them; load/ has the server to be measured, what is asked of it, and who asks.
"""
