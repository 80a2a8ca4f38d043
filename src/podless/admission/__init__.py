"""What is done to a write, and said about it, before it is stored: mutate, allocate, then validate.

`chain.py` has the order; a step is one file.
"""

from podless.admission.attributes import CONNECT, CREATE, DELETE, UPDATE, AdmissionAttributes, Along
from podless.admission.chain import Admission
from podless.admission.step import Step

__all__ = ["CONNECT", "CREATE", "DELETE", "UPDATE", "Admission", "AdmissionAttributes", "Along", "Step"]
