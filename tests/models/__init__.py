"""Tests of podless.models."""
