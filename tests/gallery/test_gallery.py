"""Every case under every engine and law that claims it, and as many cases as the project promises.

The errors themselves stand in docs/known-answers.md (`python -m manual answers`).
"""

import pytest

from .all import CASES
from .case import error_of

CLAIMS = [(case, engine) for case in CASES for engine in case.claims]


def test_there_are_two_hundred_cases():
    assert len({case.name for case in CASES}) == len(CASES) >= 200


@pytest.mark.parametrize(
    ("case", "engine"), CLAIMS, ids=[f"{case.name}-{engine}" for case, engine in CLAIMS]
)
def test_the_answer_is_the_known_one(case, engine):
    assert error_of(case, engine) <= case.bound(engine)
