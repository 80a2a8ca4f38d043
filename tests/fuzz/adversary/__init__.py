"""Random pairs of a set-up that is built to be expensive and of requests that are built for it.

No step of the event loop may take long for any of them. What is random follows from a seed, so that a pair can be seen
again: `python -m tests.fuzz.adversary --pair SEED`.
"""
