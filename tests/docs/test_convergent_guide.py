"""The code of docs/convergent.md runs, and says what the page says."""

from pathlib import Path

import numpy as np
import pytest

from tests.docs.doc_code import blocks

GUIDE = Path(__file__).parents[2] / "docs" / "convergent.md"


@pytest.mark.slow
def test_the_guide_runs(capsys):
    code = blocks(GUIDE, "python")
    assert len(code) >= 9
    names = {}
    exec("\n".join(code), names)
    out = capsys.readouterr().out
    assert "D_a -0.750, D_m 0.596" in out
    convergent = names["evaluate"](names["problem"], names["path"])
    shortest = names["evaluate"](names["problem"], names["short"])
    assert convergent.area_ratio < 0.1 * shortest.area_ratio
    assert not names["answer"].ok and "(2.22) at waypoint" in names["answer"].message
    assert "goal_outside - goal (1.2, 3) is outside the map" in out
    assert names["cone"].half_width > 0.0
    assert names["rough"].ok and names["smooth"].ok
    assert names["points"].shape == (len(names["path"].positions), 4, 2)
    assert "hill wrong: h_x is" in out and "differences of h give" in out
    assert names["swing"].ok and names["feedback"].gains.shape[1] == 4
    assert np.mean(names["pushed"].success) > 0.5
    plain, calm = names["spread"]
    assert names["calm"].status == names["plain"].status == "converged" and calm < 0.8 * plain
