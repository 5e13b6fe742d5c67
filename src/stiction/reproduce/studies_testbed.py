"""Ma's testbed with the faults that the document found in it: what each does to the parameters."""

from typing import Any

import numpy as np

from stiction.identify import ContactSetup, identify, read_setup, testbed_of, virtual_test
from stiction.report.figures import COLORS, new_figure
from stiction.reproduce.ma import ERROR_2, SCATTER_2
from stiction.reproduce.registry import Check, Document, Reproduction, stated

item = Document("studies").item
CORNERS = [[0.12, 0.12], [-0.12, 0.12], [-0.12, -0.12], [0.12, -0.12]]  # of the springs [m]
LETTERS = ("k1", "c1", "μ1", "k2", "c2", "μ2")
# The document gives no sizes: a few newtons, a tenth of a millimetre, three millimetres of
# bristle, springs 24 cm apart.
FAULTS: dict[str, dict[str, Any]] = {
    "none": {},
    "bearing friction 5 N": {"bearing_friction": {"side": 5.0}},
    "backlash 0.1 mm": {"backlash": {"side": 1e-4}},
    "both, and twice": {"bearing_friction": {"side": 10.0}, "backlash": {"side": 2e-4}},
    "static friction, bottom": {"static": {"bottom.k_f": 1e4, "bottom.s_max": 3e-3}},
    "plates that tilt": {"tilting_plates": True},
}


def errors_of(fault: dict[str, Any]) -> np.ndarray:
    """Errors of the six parameters from one test without noise, by least squares (21) [%]."""
    setup, folder = read_setup("two-point")
    assert isinstance(setup, ContactSetup)
    truth = testbed_of(setup).truth
    bed = {name: value for name, value in fault.items() if name != "static"}
    bed["truth"] = truth | fault.get("static", {})
    springs = [
        s.model_copy(update={"springs": [truth[f"{s.name}.k"] / 4] * 4,
                             "spring_positions": CORNERS})
        for s in setup.surfaces
    ]  # fmt: skip
    faulty = setup.model_copy(
        update={"testbed": testbed_of(setup).model_copy(update=bed), "surfaces": springs}
    )
    recording = virtual_test(faulty, folder, quiet=True).recording
    # What does not fit is to be borne by the parameters, as in the document: the noise told to
    # identification is large enough for it.
    assert setup.wrench.noise is not None
    loud = setup.wrench.noise.model_copy(update={"force": 25.0, "moment": 2.5})
    asked = setup.model_copy(
        update={"method": setup.method.model_copy(update={"name": "least-squares"}),
                "wrench": setup.wrench.model_copy(update={"noise": loud})}
    )  # fmt: skip
    found = identify([recording], asked, folder).parameters
    values = [found[name].value or np.nan for name in found]
    return 100 * (np.array(values) / [truth[name] for name in found] - 1)


@item("Study 6")
def faults_of_the_testbed() -> Reproduction:
    found = {name: errors_of(fault) for name, fault in FAULTS.items()}
    figure, axis = new_figure(figsize=(8.4, 4.0))
    x = np.arange(len(LETTERS))
    width = 0.8 / len(found)
    for i, (name, errors) in enumerate(found.items()):
        axis.bar(x + (i - len(found) / 2 + 0.5) * width, np.abs(errors), width, label=name,
                 color=COLORS[i % len(COLORS)])  # fmt: skip
    axis.plot(x, ERROR_2, "k_", ms=28, mew=2, label="the document's error")
    axis.plot(x, SCATTER_2, "kx", ms=8, label="the document's scatter")
    axis.set_xticks(x, LETTERS)
    axis.set_ylabel("error [%]")
    axis.legend(fontsize=7, ncols=4, loc="lower center", bbox_to_anchor=(0.5, 1.0))
    rows = [
        {"fault": name} | {n: f"{e:+.2f}" for n, e in zip(LETTERS, errors, strict=True)}
        for name, errors in found.items()
    ]
    for name, values in (("the document: error [%]", ERROR_2), ("its scatter [%]", SCATTER_2)):
        rows.append(
            {"fault": name}
            | {n: f"{v:.1f}" if v == v else "" for n, v in zip(LETTERS, values, strict=True)}
        )
    ideal, bearing, _backlash, both, static, _tilting = (np.abs(e) for e in found.values())
    return Reproduction(
        figure,
        rows,
        checks=[
            Check.below("without faults and noise: largest error [%]", ideal.max(), 0.1),
            *stated(
                Check.more("friction and backlash in the side plate's bearings make the errors:"
                           " they raise that of c1 to [%]", both[1], SCATTER_2[1]),
                Check.close("and that of k1 to about the document's [%]", both[0], ERROR_2[0], 2.0),
                Check.more("static friction is reflected in the parameters: error of μ2 [%]",
                           static[5], 1.0),
            ),
            Check.more("friction of a bearing is taken for damping: error of c1 over that of k1",
                       float(bearing[1] / bearing[0]), 10.0),
            Check.more("backlash is taken for a softer spring: k1 too low by [%]",
                       float(-found["backlash 0.1 mm"][0]), 0.5),
            Check.more("plates that tilt are taken for softer: k1 too low by [%]",
                       float(-found["plates that tilt"][0]), 1.0),
        ],
    )  # fmt: skip
