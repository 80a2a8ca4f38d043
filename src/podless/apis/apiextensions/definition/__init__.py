"""Defaults, validation and status of CustomResourceDefinitions.

All functions take definitions that were decoded by the CUSTOM_RESOURCE_DEFINITION struct; `beta` converts those of
v1beta1. `fill`, `validate`, `schemas` and `conversions` import the modules for schemas, which a server without
definitions does not need.
"""
