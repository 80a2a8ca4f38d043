"""Admission: plugins that mutate, complete and validate a write before it is stored.

Plugins are in the folders of their API groups; apis/admission.py has their order.
"""

from podless.admission.attributes import CONNECT, CREATE, DELETE, UPDATE, AdmissionAttributes, Along
from podless.admission.chain import Admission
from podless.admission.plugin import Plugin

__all__ = ["CONNECT", "CREATE", "DELETE", "UPDATE", "Admission", "AdmissionAttributes", "Along", "Plugin"]
