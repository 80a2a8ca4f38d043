"""What is done to a write, and said about it, before it is stored: mutate, then validate.

`chain.py` has the order; a step is one file.
"""

from podless.admission.chain import Admission, Step
from podless.admission.review import CREATE, DELETE, UPDATE, Review

__all__ = ["CREATE", "DELETE", "UPDATE", "Admission", "Review", "Step"]
