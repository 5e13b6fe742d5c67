"""What `grf` and `gait` share: the options of a trial, and the way from files to results."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from stiction._base.errors import InputError
from stiction._base.files import check_file
from stiction.cli.options import (
    BASE,
    SET,
    Number,
    Text,
    Texts,
    argument,
    complete_scene,
    member,
    option,
    read_scene,
)

if TYPE_CHECKING:
    from stiction.biped import Comparison, GroundReactions, Measured, Subject


@dataclass
class TrialOptions:
    """A trial, its subject, and how the forces on the feet are found."""

    motion: Path = member(
        argument(
            ...,
            "A trial: joint angles (.mot, .sto, .csv) or markers (.trc, .c3d) against time.",
        )
    )
    model: str = member(
        option(
            "human",
            "MODEL",
            "OpenSim model (.osim), MJCF, URDF, scenario, or a scene; human is scaled to the"
            " markers.",
            autocompletion=complete_scene,
        )
    )
    static: Path | None = member(
        option(None, "FILE", "Static trial (.trc, .c3d) that the model is scaled to.")
    )
    mass: Number = member(
        option(None, "M", "Body mass of the subject [kg]; by default the model's.")
    )
    subject: Text = member(
        option(None, "NAME", "Whose markers, where a file holds those of several.")
    )
    plates: Path | None = member(
        option(None, "FILE", "Force plates (.mot, .sto, .csv, .c3d, loads .xml).")
    )
    contacts: Path | None = member(
        option(None, "FILE", "Points of the soles: a ContactGeometrySet (.xml) or .csv.")
    )
    weights: Path | None = member(
        option(None, "FILE", "Weights of markers: OpenSim's IK tasks (.xml) or .csv.")
    )
    filter_: str = member(
        option(
            "spline", "NAME", "Low-pass filter of the motion: spline, butterworth, opensim or none."
        )
    )
    cutoff: Number = member(
        option(None, "F", "Cut-off frequency of the filter [Hz]; by default chosen from the data.")
    )
    split: str = member(
        option(
            "pivot",
            "NAME",
            "How two feet on the ground share the force: pivot, least-norm or smooth.",
        )
    )
    mu: float = member(option(0.8, "MU", "Coefficient of friction of the soles."))
    angles: Text = member(
        option(None, "UNIT", "Unit of the angles in the file: degrees or radians.")
    )
    start: Number = member(option(None, "T", "Leave out what is before this time [s]."))
    end: Number = member(option(None, "T", "Leave out what is after this time [s]."))
    gap_tolerance: float = member(option(0.03, "H", "Points higher than this [m] do not touch."))
    speed_tolerance: float = member(
        option(1.0, "V", "Points faster than this [m/s] count as not touching.")
    )
    ground: Number = member(
        option(None, "H", "Height of the ground [m]; by default found from the motion.")
    )
    plate_axes: Text = member(
        option(None, "AXES", "The model's x,y,z in the plates' axes: x,z,-y.")
    )
    marker_axes: Text = member(
        option(None, "AXES", "The model's x,y,z in the markers' axes: x,z,-y.")
    )
    set_: Texts = member(SET)
    base: Text = member(BASE)

    def check_files(self) -> None:
        """Refuse files that are not there, before any work."""
        for path in (self.motion, self.static, self.plates, self.contacts, self.weights):
            if path is not None:
                check_file(path, most=float("inf"))  # who reads it has a bound of its own


def ground_reactions_of(
    options: TrialOptions, subject: "Subject"
) -> "tuple[GroundReactions, Measured | None, Comparison | None]":
    """Read a trial, compute its ground reactions, and put the plates beside them."""
    from stiction.biped import (
        Ground,
        compare,
        ground_reactions,
        measured_on_frames,
        read_motion,
        read_plates,
    )
    from stiction.tables import has_plates

    o = options
    marker_axes = marker_axes_of(o.motion, o, subject)
    motion = read_motion(
        o.motion, subject, marker_axes=marker_axes, weights=_weights(o), who=o.subject
    )
    if marker_axes != o.marker_axes:
        note = f"markers of '{o.motion.name}' were turned: --marker-axes {marker_axes}"
        motion = replace(motion, notes=(*motion.notes, note))
    reactions = ground_reactions(
        motion.between(o.start, o.end),
        subject,
        angles=o.angles,
        filter=o.filter_,
        cutoff=o.cutoff,
        split=o.split,
        ground=Ground(o.mu, o.ground, o.gap_tolerance, o.speed_tolerance),
    )
    plates, axes = o.plates, o.plate_axes
    if plates is None and has_plates(o.motion):  # in the frame of the markers beside them
        plates, axes = o.motion, o.plate_axes or marker_axes
    if plates is None:
        return reactions, None, None
    measured = measured_on_frames(read_plates(plates, axes=axes), reactions)
    return reactions, measured, compare(reactions, measured)


def read_subject(options: TrialOptions) -> "Subject":
    """The subject of a model file or of a scene, with soles, scaled where markers allow it."""
    import numpy as np

    from stiction.biped import read_markers, scale_to_markers, scaled_subject, with_marker_sets
    from stiction.tables import MARKERS

    o = options
    subject = _model(o)
    marked = o.motion.suffix.lower() in MARKERS
    own = bool(subject.markers)
    if marked and not own:
        subject = with_marker_sets(subject, read_markers(o.motion, subject=o.subject).names)
    # A model with markers is somebody's already; the human is nobody's.
    static = o.static or (o.motion if marked and subject.markers and not own else None)
    if static is not None:
        subject = with_marker_sets(subject, read_markers(static, subject=o.subject).names)
        markers = read_markers(static, axes=marker_axes_of(static, o, subject), subject=o.subject)
        return scale_to_markers(subject, markers, mass=o.mass, weights=_weights(o)).subject
    if o.mass is None:
        return subject
    return scaled_subject(subject, np.ones(len(subject.body_names)), o.mass)


def marker_axes_of(path: Path, options: TrialOptions, subject: "Subject") -> str | None:
    """How to turn the markers of a file: as asked for, or so that up is the model's."""
    from stiction.biped import axes_of_markers, read_markers
    from stiction.tables import MARKERS

    if options.marker_axes is not None or path.suffix.lower() not in MARKERS:
        return options.marker_axes
    other = axes_of_markers(read_markers(path, subject=options.subject), subject)
    return None if other is None else other[2]


def _weights(options: TrialOptions) -> dict[str, float] | None:
    from stiction.biped import read_weights

    return None if options.weights is None else read_weights(options.weights)


def _model(o: TrialOptions) -> "Subject":
    from stiction.biped import with_soles

    if Path(o.model).suffix.lower() == ".osim":
        if o.set_ or o.base:
            raise InputError(
                "`--set` and `--base` are for scenarios and scenes, not for OpenSim models"
            )
        from stiction.biped import read_osim

        return with_soles(read_osim(o.model), o.contacts)
    from stiction.biped import subject_of_mechanism

    mechanism = read_scene(o.model, o.set_, o.base).mechanism
    return with_soles(subject_of_mechanism(mechanism), o.contacts, mechanism)
