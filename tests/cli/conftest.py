"""Fixtures of the command-line tests."""

from helpers_cli import cli

__all__ = ["cli"]
