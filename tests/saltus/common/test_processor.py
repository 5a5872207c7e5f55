"""What the machine says of itself."""

from pathlib import Path

import pytest

from saltus.common.processor import stolen_s


def test_stolen_time_is_the_eighth_number_of_the_first_line(monkeypatch) -> None:
    monkeypatch.setattr("os.sysconf", lambda _: 100)
    monkeypatch.setattr(Path, "read_text", lambda _: "cpu  1 2 3 4 5 6 7 250 9 0\ncpu0 1\n")
    assert stolen_s() == pytest.approx(2.5)


@pytest.mark.parametrize("text", ["", "cpu 1 2", "cpu a b c d e f g h i"])
def test_a_machine_that_does_not_say_so_is_no_error(monkeypatch, text: str) -> None:
    monkeypatch.setattr(Path, "read_text", lambda _: text)
    assert stolen_s() == 0.0
