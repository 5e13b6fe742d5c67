"""The example notebooks run from top to bottom."""

from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.ipynb"))


def test_there_are_three():
    assert len(EXAMPLES) == 3


@pytest.mark.slow
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.stem)
def test_a_notebook_runs_and_shows_something(path):
    nbformat = pytest.importorskip("nbformat")
    client = pytest.importorskip("nbclient").NotebookClient
    pytest.importorskip("ipykernel")
    notebook = nbformat.read(path, as_version=4)
    client(notebook, timeout=600, kernel_name="python3").execute()
    shown = [o for cell in notebook.cells for o in cell.get("outputs", [])]
    kinds = {kind for output in shown for kind in output.get("data", {})}
    assert {"text/html", "image/png"} & kinds
    assert not [o for o in shown if o["output_type"] == "error"]
