"""Generated pages are up to date, and say something about everything."""

import re

import diffrax
import pytest
from manual import DOCS, bibliography
from manual.__main__ import PAGES
from manual.errors import TO_DO
from manual.fields import describe

from stiction._base.files import Fields
from stiction.cli.app import COMMANDS
from stiction.engines import RESULTS
from stiction.scenes import scenario


@pytest.mark.parametrize("name", PAGES)
def test_a_generated_page_is_up_to_date(name):
    made = PAGES[name]().rstrip() + "\n"
    assert (DOCS / name).read_text() == made, "run `python -m manual`"


def test_every_command_has_help_and_examples():
    for function in COMMANDS:
        text, _, examples = (function.__doc__ or "").partition("Examples:\n")
        assert text.strip()
        assert f"stiction {function.__name__.rstrip('_')}" in examples


def test_every_field_of_a_scenario_has_a_meaning():
    models = [m for m in vars(scenario).values() if isinstance(m, type) and issubclass(m, Fields)]
    silent = [
        f"{model.__name__}.{name}"
        for model in models
        for name, field in model.model_fields.items()
        if not describe(name, field)[-1]
    ]
    assert not silent


def test_every_way_a_run_can_end_has_something_to_do():
    own = set(RESULTS._name_to_item) - set(diffrax.RESULTS._name_to_item)
    assert own
    assert own <= set(TO_DO)


def test_the_bibliography_has_no_latex_left():
    page = bibliography.page()
    assert not re.search(r"\\[A-Za-z'\"`^~]|[{}]", re.sub(r"\{ #cite-\w+ \}", "", page))


def test_every_entry_of_the_bibliography_is_closed():
    text = (DOCS / "references.bib").read_text()
    for entry in re.split(r"^(?=@)", text, flags=re.MULTILINE)[1:]:
        assert entry.count("{") == entry.count("}"), entry[:40]


def test_the_manual_tells_what_stands_beside_fields(tmp_path):
    griffe = pytest.importorskip("griffe")
    (tmp_path / "felt.py").write_text(
        "class Felt:\n"
        '    """What is felt."""\n\n'
        "    force: float  # of the ground [N]\n"
        "    # where it acts,\n    # in the world\n"
        "    point: tuple[\n        float, float\n    ]  # noqa: E501\n"
        "    mu: float  # μ\n"
        "    plain: int = 0\n"
    )
    felt = griffe.load(
        "felt",
        search_paths=[tmp_path],
        docstring_parser="google",
        extensions=griffe.load_extensions("manual.beside"),
    )
    rows = felt["Felt"].docstring.parsed[1].value
    told = {row.name: row.description for row in rows}
    point = "Where it acts, in the world."
    assert told == {"force": "Of the ground [N].", "point": point, "mu": "μ."}
