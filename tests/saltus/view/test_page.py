"""The page of a recording, as a person sees it in Chromium."""

import re
import threading

import numpy as np
import pytest

from saltus.launch.recorded import RecordedRun
from saltus.view import page
from saltus.view.page import Page, view_recording
from tests.saltus.film.fake_run import make_run
from tests.saltus.programs import wait_until
from tests.saltus.view.browser import Tab, chromium


@pytest.fixture(scope="module")
def browser():
    with chromium() as each:
        yield each


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    """Of a recording that is shown."""
    run = RecordedRun(make_run(tmp_path_factory.mktemp("view") / "run", seconds=4.0))
    lines = []
    over = threading.Event()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(page, "say", lines.append)
        with Page(port=0) as shown:
            thread = threading.Thread(target=view_recording, args=(shown, run, "run", over.is_set))
            thread.start()
            wait_until(lambda: bool(lines), "the address of the page")
            try:
                yield lines[0].removeprefix("view: ")
            finally:
                over.set()
                thread.join()


def shown_time(tab):
    """Of the robot, as the page says; -1 before there is one."""
    found = re.search(r"([\d.]+) s, plan ok", tab.text())
    return float(found[1]) if found else -1.0


def drag_to(tab, time):
    """The time line by the mouse to a time [s] of the 4 s, which the page that is watched shows."""

    def drag():
        thumb = tab.page.get_by_role("slider").first.bounding_box()
        track = tab.page.locator(".mantine-Slider-track").first.bounding_box()
        assert thumb and track
        mouse, y = tab.page.mouse, track["y"] + track["height"] / 2
        mouse.move(thumb["x"] + thumb["width"] / 2, y)
        mouse.down()
        mouse.move(track["x"] + time / 4.0 * track["width"], y, steps=3)
        mouse.up()
        tab.page.wait_for_timeout(500.0)
        return abs(shown_time(tab) - time) < 0.1

    # A machine with much to do may lose a drag: people drag again, too.
    wait_until(drag, f"a drag to {time} s")


def settled(tab):
    """Its picture once it is drawn and stands still: a slow machine draws long after the words."""
    pictures = [tab.pixels(), tab.pixels()]

    def still():
        tab.page.wait_for_timeout(1000.0)
        pictures.append(tab.pixels())
        moved = max(float(np.abs(each - pictures[-1]).mean()) for each in pictures[-3:])
        return pictures[-1].std() > 5.0 and moved < 0.2

    wait_until(still, "a robot that stands still")
    return pictures[-1]


def test_the_page_shows_the_robot_and_dragging_the_time_line_moves_it(browser, url):
    tab = Tab(browser, url)
    wait_until(lambda: shown_time(tab) >= 0.0, "the robot")
    tab.page.get_by_label("play").uncheck()
    drag_to(tab, 1.0)
    early = settled(tab)
    drag_to(tab, 3.0)
    wait_until(lambda: float(np.abs(tab.pixels() - early).mean()) > 1.0, "the robot to move")
    assert tab.faults == []
    tab.close()
