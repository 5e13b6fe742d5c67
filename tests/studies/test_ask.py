"""Questions are answered as Python would, and intervals cover the truth as often as they say."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stiction import InputError
from stiction.studies import Question, Stop, make_design, probability, study

LABELS = {"coordinate": ["box.x", "box.z", "lid"]}


@given(st.floats(-3, 3), st.floats(-3, 3), st.floats(-3, 3), st.booleans())
def test_answers_are_those_of_python(x, z, a, rests):
    values = {
        "final_q": np.array([[x, z, 0.5]]),
        "a": np.array([a]),
        "at_rest": np.array([rests]),
    }
    for text, truth in (
        ("at_rest and final.z > 0.1", rests and z > 0.1),
        ("not at_rest or abs(final.x) <= a", (not rests) or abs(x) <= a),
        ("-1 < final.box.x < a + 1", -1 < x < a + 1),
        ("max(a, final.lid) ** 2 != 0.25", max(a, 0.5) ** 2 != 0.25),
    ):
        assert bool(Question(text).answers(values, LABELS)[0]) == truth


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("final.y > 0", "no entry of `final_q`"),
        ("hight > 0", "no name in `--ask` 'hight'"),
        ("a >", "must be an expression"),
        ("a", "yes or no"),
        ("final_q > 0", "which entry"),
        ("__import__('os')", "no function"),
        ("a.__class__ > 0", "entry of `a`"),
        ("(lambda: 1)() > 0", "cannot have"),
        ("[a for a in b] > 0", "cannot have"),
    ],
)
def test_a_question_that_makes_no_sense_is_refused(text, words):
    values = {"final_q": np.zeros((1, 3)), "a": np.zeros(1)}
    with pytest.raises(InputError) as error:
        Question(text).answers(values, LABELS)
    assert words in str(error.value)


def test_exact_intervals_cover_as_often_as_they_say(rng, cases):
    for p in (0.02, 0.3, 0.9):
        yes = rng.binomial(200, p, cases(3000))
        found = {int(k): probability(200, int(k)) for k in np.unique(yes)}
        covered = np.mean([found[int(k)].low <= p <= found[int(k)].high for k in yes])
        assert covered >= 0.94


def test_watched_intervals_cover_at_every_instant_at_once(rng, cases):
    """One that is right at each instant alone is wrong at some instant far more often."""
    p, looks = 0.1, np.arange(100, 2001, 100)
    missed = {True: 0, False: 0}
    trials = cases(1000)
    for _ in range(trials):
        yes = rng.binomial(100, p, len(looks)).cumsum()
        for watched in missed:
            counts = zip(looks.tolist(), yes.tolist(), strict=True)
            limits = (probability(n, k, watched=watched) for n, k in counts)
            missed[watched] += any(not x.low <= p <= x.high for x in limits)
    assert missed[True] <= 0.05 * trials + 3
    assert missed[False] > 0.08 * trials


def test_failed_cases_widen_the_interval_to_both_sides():
    without, with_failed = probability(100, 30), probability(100, 30, 20)
    assert with_failed.low == without.low
    assert with_failed.high == probability(100, 50).high
    assert with_failed.estimate == pytest.approx(30 / 80)


def weighted(a):
    """Of a case drawn from [0, 1), one in four is below 0.25."""
    return {"value": a}


def test_a_study_stops_when_the_answer_is_narrow_and_after_the_same_cases(tmp_path):
    design = make_design(["a=0..1"], cases=20_000, sampler="random", seed=1)
    stop = Stop(Question("value < 0.25"), 0.1)
    made = study(weighted, design, out=tmp_path / "one", workers=1, block=50, stop=stop)
    answer = made.ask()
    assert answer.width <= 0.1
    assert answer.low <= 0.25 <= answer.high
    assert made.progress.done < 3000
    drawn = design.values(0, answer.cases)["a"]
    assert answer.yes == np.sum(drawn < 0.25)
    again = study(weighted, design, out=tmp_path / "one", workers=1, block=50, stop=stop)
    assert again.ask() == answer


def test_a_grid_has_no_probability():
    with pytest.raises(InputError, match="independent random cases"):
        study(weighted, {"a": "0:1:5"}, workers=1).ask("value > 0.5")
