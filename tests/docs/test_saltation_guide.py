"""The code of docs/saltation.md runs, and says what the page says."""

from pathlib import Path

import numpy as np
from numpy.testing import assert_allclose

from tests.docs.doc_code import blocks

GUIDE = Path(__file__).parents[2] / "docs" / "saltation.md"


def test_the_guide_runs(capsys):
    code = blocks(GUIDE, "python")
    assert len(code) >= 8
    assert sum(bool(line.strip()) for line in code[0].splitlines()) <= 35
    names = {}
    exec(code[0], names)
    assert names["run"].status == "ok" and names["solution"].status == "converged"
    assert_allclose(names["solution"].trajectory.states[-1], [1.0, 0.0], atol=0.1)
    exec("\n".join(code[1:]), names)
    out = capsys.readouterr().out
    assert "('impact', 0.451754), ('apex', 0.790569)" in out
    assert "zeno - in mode" in out
    assert names["bounded"].status == "converged" and names["slow"].status == "converged"
    assert np.abs(names["bounded"].trajectory.inputs).max() == 12.0
    assert np.abs(names["slow"].trajectory.states[:, 1]).max() < 8.0 + 1e-3
    assert names["variation"].ok and np.all(np.linalg.eigvalsh(names["Sigma"]) > 0.0)
    spread = np.cov(names["ends"].states[names["ends"].ok].T)
    apart = {how: np.max(abs(Sigma - spread)) for how, Sigma in names["predicted"].items()}
    assert apart["saltation"] < 0.1 * apart["reset"] and names["belief"].status == "ok"
    assert names["cycle"].stable and names["solution"].status == "converged"
    assert [c.guard for c in names["hops"].crossings] == [0, 1, 0, 1]
    assert names["landings"].terminated.all() and names["landings"].message == ""
    sequential, spread = 0.0930, names["landings"].outcomes[:, 0]
    assert 0.8 * sequential < spread.max() < sequential and -sequential < spread.min() < -0.07
