"""Designs: what is written is what varies, and a case depends on its number and the seed alone."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from stiction import InputError
from stiction.studies import Distribution, JointDraw, make_design
from stiction.studies.design import case_seed
from stiction.studies.store import block_shape


def test_a_grid_is_every_combination_the_last_axis_fastest():
    design = make_design(["a.x=0:1:3", "b.y=5,7"])
    assert design.dims == {"x": 3, "y": 2}
    values = design.values(0, 6)
    assert values["x"].tolist() == [0, 0, 0.5, 0.5, 1, 1]
    assert values["y"].tolist() == [5, 7, 5, 7, 5, 7]


def test_fields_with_commas_have_the_same_value():
    design = make_design(["contact.mu_static,contact.mu_dynamic=0.2,0.4"])
    assert design.targets == {"mu_static": ("contact.mu_static", "contact.mu_dynamic")}


def test_words_are_an_axis_too():
    assert make_design(["contact.impact=newton,poisson"]).case(1) == {"impact": "poisson"}


@pytest.mark.parametrize("sampler", ["sobol", "lhs", "random", "saltelli"])
def test_a_case_does_not_depend_on_where_a_study_is_cut(sampler):
    vary = ["a~normal(1,2)", "b=0..3", "c~choice(1,2,5)"]
    design = make_design(vary, cases=50, sampler=sampler, seed=3)
    whole = design.values(0, design.count)
    cuts = [0, 1, 7, 50, 51, 99, design.count]
    cuts = sorted({min(c, design.count) for c in cuts})
    for name, values in whole.items():
        pieces = [design.values(a, b)[name] for a, b in itertools.pairwise(cuts)]
        assert np.array_equal(np.concatenate(pieces), values)
    other = make_design(vary, cases=50, sampler=sampler, seed=4).values(0, design.count)
    assert not np.array_equal(whole["a"], other["a"])


@pytest.mark.parametrize("sampler", ["sobol", "lhs", "random"])
@pytest.mark.parametrize(
    ("text", "truth"),
    [
        ("normal(1, 2)", stats.norm(1, 2)),
        ("normal(0, 1, -1, 2)", stats.truncnorm(-1, 2)),
        ("uniform(-1, 3)", stats.uniform(-1, 4)),
        ("loguniform(0.1, 10)", stats.loguniform(0.1, 10)),
        ("lognormal(0.5, 0.2)", stats.lognorm(0.2, scale=np.exp(0.5))),
        ("triangular(0, 1, 4)", stats.triang(0.25, 0, 4)),
    ],
)
def test_draws_follow_their_distribution(sampler, text, truth):
    drawn = make_design([f"a~{text}"], cases=2048, sampler=sampler).values(0, 2048)["a"]
    assert stats.kstest(drawn, truth.cdf).pvalue > 1e-3


def test_numbers_drawn_together_have_their_covariance():
    spread = np.array([[4.0, 1.9, 0], [1.9, 1.0, 0], [0, 0, 0]])  # singular, correlated
    joint = JointDraw(("a", "b", "c"), np.array([1.0, 2.0, 3.0]), spread)
    values = make_design([joint], cases=4096).values(0, 4096)
    drawn = np.stack([values[n] for n in "abc"])
    assert np.allclose(drawn.mean(axis=1), [1, 2, 3], atol=0.01)
    assert np.allclose(np.cov(drawn), spread, atol=0.03)


def test_a_grid_is_crossed_with_the_same_draws_and_replicates():
    design = make_design(["a=1,2,3", "b=0..1"], cases=4, replicates=2)
    assert design.dims == {"a": 3, "sample": 4, "replicate": 2}
    b = design.values(0, 24)["b"].reshape(3, 4, 2)
    assert np.all(b == b[:1, :, :1])


def test_matrices_of_saltelli_exchange_one_column_each():
    design = make_design(["a=0..1", "b=0..1"], cases=8, sampler="saltelli")
    values = design.values(0, design.count)
    a, b = (values[n].reshape(4, 8) for n in "ab")
    assert np.array_equal(a[2], a[1])  # AB a: a from B, b from A
    assert np.array_equal(b[2], b[0])
    assert np.array_equal(a[3], a[0])
    assert np.array_equal(b[3], b[1])
    assert not np.any(a[0] == a[1])


def test_seeds_of_cases_are_those_of_spawned_children():
    seen = {tuple(case_seed(7, k).generate_state(2)) for k in range(1000)}
    assert len(seen) == 1000
    assert np.array_equal(case_seed(7, 5).generate_state(4), case_seed(7, 5).generate_state(4))


def test_a_table_gives_the_cases(tmp_path):
    file = tmp_path / "cases.csv"
    file.write_text("contact.restitution,contact.impact\n0.1,newton\n0.9,poisson\n")
    design = make_design(table=file)
    assert design.case(1) == {"restitution": 0.9, "impact": "poisson"}


@pytest.mark.parametrize(
    ("vary", "words"),
    [
        ("a=0.5..0.5", "empty range"),
        ("a=2..1", "empty range"),
        ("a=1:1:5", "empty range"),
        ("a=0:1:0", "COUNT 0"),
        ("a~normal(0, -1)", "standard deviation above 0"),
        ("a~normal(0, 0)", "standard deviation above 0"),
        ("a~normal(0, 1, 2, 1)", "empty range"),
        ("a~loguniform(0, 1)", "above 0"),
        ("a~gauss(0, 1)", "no distribution 'gauss'"),
        ("a~normal(0)", "must be normal(mean, std)"),
        ("a=1,1", "each value once"),
        ("a=1,nan", "finite"),
        ("a=1,x", "numbers or words"),
        ("a", "path=values"),
        ("=1,2", "path=values"),
        ("a~choice(1)", "at least two"),
    ],
)
def test_a_bad_design_is_refused_in_one_line(vary, words):
    with pytest.raises(InputError) as error:
        make_design([vary], cases=4 if "~" in vary or ".." in vary else None)
    assert words in str(error.value)
    assert "\n" not in str(error.value)


def test_a_negative_variance_is_refused():
    with pytest.raises(InputError, match="negative variance"):
        JointDraw(("a", "b"), np.zeros(2), np.array([[1.0, 2.0], [2.0, 1.0]]))


def test_what_contradicts_itself_is_refused():
    for arguments, words in (
        ({"variations": ["a=0..1"]}, "`cases` is needed"),
        ({"variations": ["a=1,2"], "cases": 3}, "no field is"),
        ({"variations": ["a=1,2", "a=3,4"]}, "varied once"),
        ({"variations": ["b.a=1,2", "c.a=3,4"]}, "named once"),
        ({"variations": ["a=0..1"], "cases": 0}, "at least 1"),
        ({"variations": ["a=0..1"], "cases": 4, "sampler": "best"}, "sampler"),
        ({"variations": ["a=1,2"], "replicates": 0}, "replicates"),
        ({"variations": ["a=1,2", "b=0..1"], "cases": 4, "sampler": "saltelli"}, "saltelli"),
        ({"table": {"a": [1.0, np.nan]}}, "finite"),
    ):
        with pytest.raises(InputError, match=words):
            make_design(**arguments)


@given(st.lists(st.integers(1, 7), min_size=1, max_size=4), st.integers(1, 60))
def test_blocks_are_contiguous_and_cover_all_cases(shape, size):
    chunk = block_shape(shape, size)
    assert np.prod(chunk) <= max(size, 1)
    numbers = np.arange(np.prod(shape)).reshape(shape)
    seen = []
    corners = np.ndindex(*[-(-n // c) for n, c in zip(shape, chunk, strict=True)])
    for corner in corners:
        place = tuple(slice(i * c, i * c + c) for i, c in zip(corner, chunk, strict=True))
        block = numbers[place].ravel()
        assert np.array_equal(block, np.arange(block[0], block[-1] + 1))
        seen += block.tolist()
    assert seen == list(range(numbers.size))


def test_quantiles_of_a_distribution_are_exact():
    assert Distribution("triangular", (0.0, 1.0, 4.0)).at(np.array([0.25]))[0] == pytest.approx(1)
    assert Distribution("uniform", (2.0, 4.0)).at(np.array([0.5]))[0] == 3
