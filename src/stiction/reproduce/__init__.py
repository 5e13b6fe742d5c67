"""The figures and tables of the five documents, each with a check of what it must show."""

from stiction.reproduce.registry import Check, Reproduction, reproduces

__all__ = ["Check", "Reproduction", "reproduces"]
