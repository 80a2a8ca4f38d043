"""What is done to a write, and said about it, before it is stored: mutate, allocate, then validate.

Plugins are in the folders of their API groups; apis/admission.py has their order.
"""

from podless.admission.attributes import CONNECT, CREATE, DELETE, UPDATE, AdmissionAttributes, Along
from podless.admission.chain import Admission
from podless.admission.plugin import Plugin

__all__ = ["CONNECT", "CREATE", "DELETE", "UPDATE", "Admission", "AdmissionAttributes", "Along", "Plugin"]
