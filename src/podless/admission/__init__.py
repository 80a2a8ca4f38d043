"""Admission: the plugins that mutate, complete and validate a write before podless stores it.

The plugins are in the folders of their API groups; apis/admission.py lists them in order.
"""

from podless.admission.attributes import CONNECT, CREATE, DELETE, UPDATE, AdmissionAttributes, CombinedCommit
from podless.admission.chain import AdmissionChain
from podless.admission.plugin import Plugin

__all__ = ["CONNECT", "CREATE", "DELETE", "UPDATE", "AdmissionAttributes", "AdmissionChain", "CombinedCommit", "Plugin"]
