"""When the watchdog damps, with time in the test's hands."""

import pytest

from hw_bridge.states import Request
from hw_bridge.watchdog.watchdog import PERIOD_S, Page, Watchdog

FRAME = b"damping" * 80


class Rig:
    """A watchdog whose tracker beats once a millisecond until it hangs."""

    def __init__(self):
        self.page, _ = Page.make()
        self.page.frame = FRAME
        self.sent = []
        self.messages = []
        self.asked = []
        self.remote = ""
        self.now, self.hangs, self.wait_s = 100.0, False, PERIOD_S
        self.watchdog = Watchdog(
            self.page, lambda frame: self.sent.append((self.now, frame)), self.take,
            lambda: self.remote, self.messages.append,
        )  # fmt: skip

    def take(self, _now):
        asked, self.asked = self.asked, []
        return asked

    def look(self, after=None):
        """Look when it is due, or so long after the last time."""
        self.now += self.wait_s if after is None else after
        if not self.hangs:
            self.page.beat = int(1e9 * (self.now - 0.4e-3))
        self.wait_s = self.watchdog.look(self.now)

    def run(self, looks):
        for _ in range(looks):
            self.look()
        return self

    def hang(self):
        self.hangs = True
        return self


def test_a_tracker_that_beats_is_left_alone():
    rig = Rig().run(1000)
    assert not rig.sent and not rig.page.latched and rig.watchdog.cause == ""


def test_a_tracker_that_hangs_is_damped_10_ms_after_its_last_beat_and_for_good():
    rig = Rig().run(10).hang()
    beat = 1e-9 * rig.page.beat
    rig.run(20)
    first = rig.sent[0][0]
    assert 0.010 <= first - beat <= 0.012 + 1e-9
    assert rig.page.latched and "hung" in rig.watchdog.cause
    assert rig.messages == [(Request.STOP, rig.watchdog.cause)]
    rig.hangs = False
    before = len(rig.sent)
    rig.run(100)
    assert len(rig.sent) == before + 100  # 500 Hz, whatever the tracker does
    assert {frame for _, frame in rig.sent} == {FRAME}


def test_a_hang_of_less_than_10_ms_is_borne():
    rig = Rig().run(10).hang().run(4)
    rig.hangs = False
    rig.run(10)
    assert not rig.sent


def test_where_the_whole_machine_stood_still_the_tracker_gets_its_chance():
    rig = Rig().run(10).hang()
    rig.look(after=0.5)
    assert not rig.sent
    rig.hangs = False
    rig.run(10)
    assert not rig.sent
    rig.hang().look(after=0.5)
    rig.run(10)
    assert rig.sent  # it did not take its chance


@pytest.mark.parametrize("late", [0.0021, 0.0029, 0.004])  # where a look was due after 1 ms
def test_on_a_core_that_is_taken_away_again_and_again_the_tracker_is_damped_in_the_end(late):
    rig = Rig().run(10).hang()
    for _ in range(5):
        rig.look(after=late)  # as long as a host's other guests may take
    assert not rig.sent
    for _ in range(6):
        rig.look(after=late)
    assert rig.sent


def test_motors_that_are_off_are_not_watched():
    rig = Rig().run(3).hang()
    rig.page.beat = 0
    rig.asked = [(Request.STOP, "space")]
    rig.run(100)
    assert not rig.sent
    assert rig.messages == [(Request.STOP, "space")]  # the tracker ends the run


@pytest.mark.parametrize("hangs", [False, True])
def test_a_stop_of_the_operator_leaves_at_once(hangs):
    rig = Rig().run(3)
    rig.hangs, rig.asked = hangs, [(Request.STOP, "space")]
    rig.look(after=1e-4)
    assert rig.sent[0] == (rig.now, FRAME) and rig.page.latched
    assert rig.messages == [(Request.STOP, "space")]
    rig.run(20)
    assert rig.watchdog.cause == "space" and len(rig.messages) == 1


def test_the_remote_is_read_where_the_tracker_is_late_only():
    rig = Rig().run(3)
    rig.remote = "R2"
    rig.run(10)
    assert not rig.sent  # the tracker reads it
    rig.hang()
    while not rig.sent:
        rig.look(after=rig.wait_s)
    assert rig.watchdog.cause == "R2" and rig.messages == [(Request.STOP, "R2")]
    assert rig.sent[0][0] - 1e-9 * rig.page.beat < 0.003
