"""The picture of a recorded run: which instants it shows, and what happens without graphics."""

from pytest import approx

from saltus.film import film as strip


def test_panels_stand_around_the_first_push_and_within_the_run():
    times = strip.panel_times(3.0, [2.5, 2.9])
    assert times == approx([2.475, 2.525, 2.575, 2.675, 3.0])
    assert strip.panel_times(3.0, [0.0])[0] == 0.0


def test_a_run_that_cannot_be_drawn_is_one_line_and_no_error(tmp_path, capfd):
    strip.leave_strip(tmp_path)
    told = capfd.readouterr().err.strip().splitlines()
    assert len(told) == 1 and told[0].startswith("the film strip was not made")
    assert not (tmp_path / strip.STRIP).exists()
