"""Fixtures of the identification tests."""

from cli.helpers_cli import cli

__all__ = ["cli"]
