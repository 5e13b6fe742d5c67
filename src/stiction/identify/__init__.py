"""Parameters from logs: stiffness, damping and friction together from one test (ma)."""

from stiction.identify.design import DesignedTest, design_test
from stiction.identify.export import Export, export
from stiction.identify.identify import identify
from stiction.identify.least_squares import Solution, solve
from stiction.identify.online import OnlineIdentifier
from stiction.identify.plates import compound_stiffness, plate_stiffness
from stiction.identify.read_setup import read_setup, setup_names
from stiction.identify.recording import Recording
from stiction.identify.recursive import RecursiveLeastSquares
from stiction.identify.result import Identification, Parameter
from stiction.identify.run_setup import identify_logs, read_recording
from stiction.identify.testbed import VirtualTest, virtual_test, write_log

__all__ = [
    "DesignedTest",
    "Export",
    "Identification",
    "OnlineIdentifier",
    "Parameter",
    "Recording",
    "RecursiveLeastSquares",
    "Solution",
    "VirtualTest",
    "compound_stiffness",
    "design_test",
    "export",
    "identify",
    "identify_logs",
    "plate_stiffness",
    "read_recording",
    "read_setup",
    "setup_names",
    "solve",
    "virtual_test",
    "write_log",
]
