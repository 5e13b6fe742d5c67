"""Models for domain randomisation: what was drawn is what MuJoCo compiles."""

import mujoco
import numpy as np
import pytest

import stiction
from stiction import InputError
from stiction.identify import Identification, Parameter
from stiction.studies import draws_of, make_design, randomize
from stiction.studies.scene_subject import VariedScene


def varied(name: str, **fields) -> VariedScene:
    scene = stiction.scene(name, **fields)
    return VariedScene(scene.scenario, scene.folder, name)


def test_drawn_numbers_are_in_the_models():
    vary = ["contact.mu_static,contact.mu_dynamic~normal(0.5,0.1,0.1,0.9)",
            "mechanism.edits.geom.box.density~uniform(300,500)"]  # fmt: skip
    models = randomize(varied("box"), make_design(vary, cases=12))
    drawn = models.values()
    for k, text in enumerate(models.texts()):
        model = mujoco.MjModel.from_xml_string(text)
        box = model.geom("box").id
        assert model.geom_friction[box, 0] == pytest.approx(drawn["mu_static"][k], rel=1e-5)
        volume = 8 * 0.1 * 0.075 * 0.05
        mass = drawn["geom.box.density"][k] * volume
        assert model.body("box").mass[0] == pytest.approx(mass, rel=1e-5)
        assert np.allclose(models.arrays["body_mass"][k], model.body_mass, rtol=1e-5)
        assert np.allclose(models.arrays["geom_friction"][k], model.geom_friction, rtol=1e-5)
    assert set(models.arrays) >= {"body_mass", "body_inertia", "geom_friction"}
    assert "geom_size" not in models.arrays  # the same in all


def test_draws_have_the_covariance_of_the_identification():
    spread = np.array([[4e6, 10.0], [10.0, 1e-4]])
    found = Identification(
        {"plate.k": Parameter(1e5, 2e3, None), "plate.mu": Parameter(0.5, 0.01, None)},
        spread, 0.0, {}, 1.0, [], "test",
    )  # fmt: skip
    fields = {"contact.stiffness": "plate.k", "contact.mu_static,contact.mu_dynamic": "plate.mu"}
    draw = draws_of(found, fields)
    values = make_design([draw], cases=2048).values(0, 2048)
    drawn = np.stack([values["stiffness"], values["mu_static"]])
    assert np.allclose(np.cov(drawn), spread, rtol=0.05)
    models = randomize(
        varied("box", contact={"law": "compliant", "mu_static": 0.5, "mu_dynamic": 0.5}),
        make_design([draw], cases=4),
    )
    stiff = models.values()["stiffness"]
    solref = models.arrays["geom_solref"][:, 1, 0]  # -k / m of the oscillator
    assert np.argsort(stiff).tolist() == np.argsort(-solref).tolist()
    assert models.limits


def test_what_has_no_place_in_a_model_is_refused():
    for vary, words in (
        ("start.q[0]=0,1", "has no place in a model"),
        ("contact.stiffness=1e4,1e5", "belongs to law"),
        ("mechanism.edits.geom.bax.density=1,2", "bax"),
    ):
        with pytest.raises(InputError, match=words):
            randomize(varied("box"), make_design([vary]))


def test_what_was_not_identifiable_cannot_be_drawn():
    found = Identification(
        {"k": Parameter(None, None, None)}, np.array([[np.inf]]), 0.0, {}, 1.0, [], "test"
    )
    with pytest.raises(InputError, match="not identifiable"):
        draws_of(found, {"contact.stiffness": "k"})
