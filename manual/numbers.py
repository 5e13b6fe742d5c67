"""The page of benchmarks: the tables of `benchmarks/README.md` that compare with other programs."""

import re
from pathlib import Path

from manual import head

MEASURED = Path(__file__).parents[1] / "benchmarks" / "README.md"
# Sections, in the order of the page, and what they are called there.
SECTIONS = {
    "time to accuracy": "Error against time: rigid contact in six engines",
    "work_precision": "Error against time: compliant contact",
    "core": "Batches on a GPU: MuJoCo Warp",
    "stepping": "Fixed steps: MuJoCo and MJX",
    "dynamics": "Smooth dynamics: MuJoCo",
    "complementarity": "LCP and cone problems: quantecon, Drake, Pinocchio",
    "identify": "Parameters from a log: mujoco.sysid",
    "tosses": "Tosses that were kept aside: MuJoCo",
    "grf": "Ground reactions: MuJoCo, SciPy",
}


def page() -> str:
    """The page."""
    _, *parts = re.split(r"^## (.*)\n", MEASURED.read_text(), flags=re.MULTILINE)
    sections = dict(zip(parts[::2], parts[1::2], strict=True))
    told = [f"## {title}\n{sections[name]}" for name, title in SECTIONS.items()]
    return head("numbers") + "\n" + "\n".join(told)
