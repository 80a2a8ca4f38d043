"""These tests run on every engine."""

from tests.engines import engine, pytest_generate_tests, server

__all__ = ["engine", "pytest_generate_tests", "server"]
