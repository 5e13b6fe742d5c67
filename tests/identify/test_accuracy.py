"""At the document's sensor noise: errors, scatter and honest intervals over 200 repetitions.

A repetition of the single-point test is 7 tests, of the two-point test 8, each of about 150 samples
in contact, each identified on its own, as in ma's Tables 1 and 2.
"""

import numpy as np
import pytest

from stiction.identify import read_setup
from stiction.identify.study import repeat
from stiction.identify.testbed import virtual_test

REPETITIONS = 200
LIMITS = {  # relative: k, c, mu
    "single-point": ((0.01, 0.03, 0.02),),
    "two-point": ((0.02, 0.08, 0.04), (0.02, 0.08, 0.04)),
}
TESTS = {"single-point": 7, "two-point": 8}


@pytest.mark.slow
@pytest.mark.parametrize("name", LIMITS)
def test_errors_scatter_and_coverage(name):
    setup, folder = read_setup(name)
    study = repeat(setup, REPETITIONS * TESTS[name], folder)
    limit = np.concatenate([np.array(part) for part in LIMITS[name]])
    by_repetition = study.estimates.reshape(REPETITIONS, TESTS[name], -1)
    mean_error = np.abs(by_repetition.mean(axis=1) / study.truth - 1)
    scatter = by_repetition.std(axis=1, ddof=1) / study.truth
    assert np.all(np.abs(study.bias) < limit)
    assert np.all(study.scatter < limit)
    assert np.all(mean_error.max(axis=0) < limit)  # in every one of the repetitions
    assert np.all(scatter.mean(axis=0) < limit)
    assert np.all(study.coverage >= 0.93)
    assert np.all(study.coverage <= 0.97)
    # Unbiased: the mean of all tests lies within four standard errors of the truth, or 0.2 %.
    error = study.scatter / np.sqrt(len(study.estimates))
    assert np.all(np.abs(study.bias) < np.maximum(4 * error, 2e-3))


@pytest.mark.parametrize("name", LIMITS)
def test_tests_are_as_long_as_the_documents(name):
    """About 150 samples in contact; robot and sensors at reasonable loads."""
    setup, folder = read_setup(name)
    test = virtual_test(setup, folder)
    loaded = np.linalg.norm(test.wrench[:, :3], axis=1) > 0
    assert 140 <= loaded.sum() <= 180
    assert np.abs(test.wrench[:, :3]).max() < 150.0
