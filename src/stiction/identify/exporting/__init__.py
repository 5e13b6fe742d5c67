"""Identified contacts in the words of the engines that people use.

`export` finds an engine's numbers for an identified contact; how each engine writes them is in
`stiction.interop`. `replay` says what the translation costs: the log with these contacts.
"""

from stiction.identify.exporting.export import Export, Replay, check_engine, export_contact

__all__ = ["Export", "Replay", "check_engine", "export_contact"]
