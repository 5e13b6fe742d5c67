"""Identified contacts in the words of the engines that people use."""

from stiction.identify.export.export import Export, Replay, check_engine, export
from stiction.identify.export.formats import FORMATS, ExportedSurface

__all__ = ["FORMATS", "Export", "ExportedSurface", "Replay", "check_engine", "export"]
