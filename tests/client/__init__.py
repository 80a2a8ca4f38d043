"""Tests of podless.client."""
