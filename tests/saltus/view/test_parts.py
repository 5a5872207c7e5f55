"""What a page is made of, without a browser."""

import sys

import numpy as np
import pytest

from saltus.cli.look import require_view
from saltus.common.errors import BadRequest
from saltus.configuration.launch import load_launch
from saltus.recording.kinematics import FEET, LOOKS, Kinematics
from saltus.view.scene import parts_of
from tests.a1 import A1
from tests.refusals import refusal
from tests.tables import yaml_table


@pytest.fixture(scope="module")
def kinematics():
    return Kinematics(A1, meshes=True)


def test_the_looks_are_as_large_as_the_model(kinematics):
    """Each link's shapes lie within its geoms' bounding spheres, and reach near their rims."""
    model = kinematics.model
    for (link, *_), mesh in parts_of(model, FEET, LOOKS):
        shown = np.isin(model.geom_group, (FEET, LOOKS)) & (model.geom_bodyid == link)
        geoms = np.flatnonzero(shown)
        centres, radii = model.geom_pos[geoms], model.geom_rbound[geoms]
        far = np.linalg.norm(mesh.vertices[:, None] - centres, axis=2)
        assert (far <= radii * 1.001 + 1e-6).any(axis=1).all()
        assert (far.min(axis=0) <= radii + 1e-6).all()


def test_without_its_packages_the_view_says_how_to_get_them(monkeypatch):
    monkeypatch.setitem(sys.modules, "viser", None)
    assert "saltus[view]" in refusal(BadRequest, require_view)


@pytest.mark.parametrize("launch, assignments, allowed", yaml_table("""
    sim => [] => true
    sim => [view.control=false] => false
    a1 => [] => false
    a1 => [view.control=true] => true
    a1-emulated => [] => false
"""))  # fmt: skip
def test_a_real_robot_is_only_watched_unless_its_file_says_so(launch, assignments, allowed):
    assert load_launch(launch, assignments).controllable is allowed
