"""Tests of podless.hooks."""
