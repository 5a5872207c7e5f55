"""The examples of docs/examples.md run, each alone, and say what they should."""

from pathlib import Path

import numpy as np
from numpy.testing import assert_allclose
from pytest import approx

from tests.docs.doc_code import blocks

PAGE = Path(__file__).parents[2] / "docs" / "examples.md"


def test_the_examples_run():
    names = {}
    examples = blocks(PAGE, "python")
    assert len(examples) == 10 and max(len(each.splitlines()) for each in examples) <= 40
    for each in examples:
        own = {}
        exec(each, own)
        names |= own
    assert len(names["room"].events) > 5 and len(names["belt"].events) > 3
    assert names["wheel"].nontrivial_multipliers == approx(np.cos(np.pi / 4) ** 2)
    assert names["landed"].states[:, 0].std() == approx(
        0.02 * np.linalg.norm(names["gradient"]), rel=0.05
    )
    assert names["e"] == approx(0.5 * (1.2 / np.sqrt(2.0 / 9.8) - 1.0))
    assert names["plan"].status == names["tossed"].status == "converged"
    assert_allclose(names["belief"].mean, names["truth"].final_state, atol=0.1)
    assert names["landings"].terminated.all()
