"""The firmware's protection against lost commands."""

from hypothesis import given
from hypothesis import strategies as st

from hw_bridge.emulator.firmware import CommandWatch, FirmwareState

OBEYING, PROTECTED = FirmwareState.OBEYING, FirmwareState.PROTECTED


def play(arrivals: dict[int, bool], ticks: int) -> tuple[CommandWatch, list[FirmwareState]]:
    """States at the end of each tick; `arrivals` maps a tick to whether its command asks."""
    watch, states = CommandWatch(30, 500), []
    for tick in range(ticks):
        if tick in arrivals:
            watch.command(tick, arrivals[tick])
        watch.pass_tick(tick)
        states.append(watch.state)
    return watch, states


@given(st.lists(st.integers(1, 29), min_size=1, max_size=40))
def test_gaps_below_the_timeout_never_trip_it(gaps: list[int]) -> None:
    ticks, arrivals = 0, {0: True}
    for gap in gaps:
        ticks += gap
        arrivals[ticks] = True
    assert set(play(arrivals, ticks + 1)[1]) == {OBEYING}


@given(st.integers(31, 200), st.lists(st.booleans(), min_size=100, max_size=100))
def test_commands_that_ask_for_motion_never_release_it(gap: int, asks: list[bool]) -> None:
    arrivals = {0: True} | {gap + 5 * k: asked for k, asked in enumerate(asks)}
    arrivals |= {gap + 20 * k: True for k in range(25)}  # one in every 20 ms asks
    _, states = play(arrivals, gap + 500)
    assert set(states[gap:]) == {PROTECTED}


def test_harmless_commands_for_half_a_second_release_it() -> None:
    arrivals = {0: True} | {k: False for k in range(100, 1000, 2)}
    watch, states = play(arrivals, 1000)
    assert states[599] is PROTECTED and states[600] is OBEYING
    assert [(tick, state) for tick, state, _ in watch.history] == [
        (0, OBEYING), (30, PROTECTED), (600, OBEYING),
    ]  # fmt: skip
