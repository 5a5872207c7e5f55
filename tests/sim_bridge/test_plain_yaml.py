"""What a person may write by mistake in YAML is refused, never lost or read as something else."""

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from sim_bridge.plain_yaml import YamlError, read_yaml
from tests.refusals import refusal

LEAVES = st.none() | st.booleans() | st.integers(-99, 99) | st.text("ab:# -'\"\n", max_size=5)
TREES = st.recursive(
    LEAVES,
    lambda each: st.lists(each, max_size=3) | st.dictionaries(st.text("abc", min_size=1), each),
    max_leaves=8,
)


@pytest.mark.parametrize(
    "text, words",
    [
        ("a: 1\nb:\n  c: 1\n  d: 2\nb: 3", "b stands twice in one mapping: lines 2 and 5"),
        ("- {a: 1}\n- {a: {b: 1, c: 2,\n b: 3}}", "b stands twice in one mapping: lines 2 and 3"),
        ("1: a\n1: b", "1 stands twice"),
        ("a: &x 1\nb: &x 2", "line 2"),
        ("%YAML 1.1\n---\na: 1e3", "should have a dot"),
        ("a: 050", "050 in line 1"),
        ("a: [-007]", "-007 in line 1"),
        ("%YAML 1.1\n---\na: 010", "010 in line 3"),
    ],
)
def test_mistakes_are_named_with_their_lines(text, words):
    assert words in refusal(YamlError, read_yaml, text)


def test_text_is_no_number_and_a_merged_key_is_no_second_one():
    text = "at: 1:30\nkeyboard: on\nnone: ~\nsmall: 1e-3\nx: &x {a: 1}\ny: {<<: *x, a: 2}"
    assert read_yaml(text) == {
        "at": "1:30", "keyboard": "on", "none": None, "small": 0.001, "x": {"a": 1}, "y": {"a": 2}
    }  # fmt: skip


@given(TREES)
def test_what_is_written_is_read(tree):
    assert read_yaml(yaml.safe_dump(tree)) == tree
