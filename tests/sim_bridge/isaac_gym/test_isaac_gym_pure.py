"""The URDF that the server makes for a robot of other masses."""

from pytest import approx

from robots.urdf import urdf_of
from sim_bridge.isaac_gym import server
from tests.a1 import A1


def test_the_urdf_with_other_masses():
    urdf = urdf_of(A1)
    assert server.total_mass(urdf) == approx(13.741)
    changed = server.changed_urdf(urdf, mass_scale=1.2, payload=3.0)
    assert server.total_mass(changed) == approx(1.2 * 13.741 + 3.0)
    trunk = server.ElementTree.fromstring(changed).find("link[@name='trunk']/inertial")
    assert float(trunk.find("mass").get("value")) == approx(1.2 * 6.0 + 3.0)
    assert trunk.find("origin").get("xyz") == "0 0.0041 -0.0005"
    assert float(trunk.find("inertia").get("iyy")) == approx(1.2 * 0.0377999)  # a point
