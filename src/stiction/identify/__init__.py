"""Parameters from logs: of a contact, an axis, a slider, impacts, tosses, rollouts.

`read_setup` gives a setup, whose `kind` says what was recorded; `identify_logs` goes from logs on
disk to an `Identification`: parameters with standard errors and intervals, residuals, and verdicts
on what the test could not tell. `export` says it in another engine's words.

- `setups`: the kinds, and the way in for all of them. `kinds/`: one file or folder each, with its
  setup and its `identify`.
- For contact tests (ma): `recording`, `faults` and `detective` (what the sensors said, and what is
  wrong with it), `path/` (the motion at any time, noise, clocks), `contact/` (the model: shapes,
  plates, the law as a regression; `convex`: two convex bodies that both move), `fit/` (samples,
  regression, errors in variables, nuisances, residuals, online). `guess` makes a setup from the
  columns of a log.
- `result` and `verdicts` (what comes out), `exporting/` (engines), `bench/` (virtual tests, the
  design of tests, studies of the estimator).
"""

from stiction.identify.bench.design import DesignedTest, design_test
from stiction.identify.bench.testbed import VirtualTest, testbed_of, virtual_test, write_log
from stiction.identify.contact.along import contacts_along
from stiction.identify.contact.convex import (
    ContactRegion,
    ConvexBody,
    RigidMotion,
    contact_region,
)
from stiction.identify.contact.convex_fit import ConvexFit, fit_regions, region_columns
from stiction.identify.contact.from_setup import contact_model
from stiction.identify.contact.parameters import model_values
from stiction.identify.contact.plates import compound_stiffness, plate_stiffness
from stiction.identify.exporting import Export, check_engine
from stiction.identify.fields import Setup
from stiction.identify.fit.least_squares import LeastSquaresFit, solve
from stiction.identify.fit.online import OnlineIdentifier, follow, follow_lines
from stiction.identify.fit.recursive import RecursiveLeastSquares
from stiction.identify.guess import guess_setup
from stiction.identify.kinds.contact import identify
from stiction.identify.kinds.contact_setup import ContactSetup, WrenchNoise
from stiction.identify.kinds.robot import RobotMotion, RobotSetup, design_robot
from stiction.identify.recording import Recording, read_recording
from stiction.identify.result import Identification, Parameter, Trace
from stiction.identify.setups import (
    check_export,
    check_laws,
    export,
    identify_logs,
    read_setup,
    setup_names,
    setup_text,
    validate,
)

__all__ = [
    "ContactRegion",
    "ContactSetup",
    "ConvexBody",
    "ConvexFit",
    "DesignedTest",
    "Export",
    "Identification",
    "LeastSquaresFit",
    "OnlineIdentifier",
    "Parameter",
    "Recording",
    "RecursiveLeastSquares",
    "RigidMotion",
    "RobotMotion",
    "RobotSetup",
    "Setup",
    "Trace",
    "VirtualTest",
    "WrenchNoise",
    "check_engine",
    "check_export",
    "check_laws",
    "compound_stiffness",
    "contact_model",
    "contact_region",
    "contacts_along",
    "design_robot",
    "design_test",
    "export",
    "fit_regions",
    "follow",
    "follow_lines",
    "guess_setup",
    "identify",
    "identify_logs",
    "model_values",
    "plate_stiffness",
    "read_recording",
    "read_setup",
    "region_columns",
    "setup_names",
    "setup_text",
    "solve",
    "testbed_of",
    "validate",
    "virtual_test",
    "write_log",
]
