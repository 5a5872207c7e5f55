"""A launch with its view, as a person uses it: the page, the push, and a view that dies."""

import os
import re
import signal
import subprocess
import threading
from itertools import cycle

import pytest
from pytest import approx

from runtime.bus import Bus
from runtime.topics import GROUND_TRUTH
from saltus.configuration.launch import load_launch
from saltus.launch.announcement import running_launches
from tests.saltus.programs import start, wait_until
from tests.saltus.view.browser import Tab, chromium
from tests.saltus.view.test_page import shown_time


class Program:
    """A command that runs, and what it says on standard error."""

    def __init__(self, *arguments):
        self.process = start(*arguments, stdout=subprocess.DEVNULL)
        self.lines = []
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        self.lines.extend(line.rstrip() for line in self.process.stderr)

    def wait_for(self, pattern):
        """The first line that matches."""
        wait_until(lambda: self._find(pattern) is not None, pattern)
        found = self._find(pattern)
        assert found
        return found

    def _find(self, pattern):
        return next(filter(None, (re.search(pattern, line) for line in self.lines)), None)

    def open_page(self, browser):
        """The page of its view, without pictures, once it says where the robot is."""
        tab = Tab(browser, self.wait_for(r"view: (http://\S+)")[1], pictures=False)
        wait_until(lambda: shown_time(tab) > 0.0, "the robot")
        return tab


@pytest.fixture
def launch():
    """One with its page."""
    program = Program("launch", "sim", "--view")
    yield program
    program.process.kill()


def viewer_of(program):
    """Process of the view beside a launch."""
    children = subprocess.run(
        ["ps", "-o", "pid=,args=", "--ppid", str(program.process.pid)],
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    view = next(line for line in children.splitlines() if "saltus.cli.main view" in line)
    return int(view.split()[0])


def test_a_page_controls_its_launch_which_outlives_it(launch, tmp_path):
    with chromium() as browser:
        tab = launch.open_page(browser)
        pid = launch.process.pid
        endpoints = next(each for each in running_launches() if each.pid == pid).endpoints
        with Bus(endpoints) as bus:
            check_push(tab, bus)
            check_time(tab, bus)
        check_tuning(tab, tmp_path / "tuned.yaml")
        check_again(tab, launch)
        assert [fault for fault in tab.faults if "preventDefault" not in fault] == []
        tab.close()
        os.kill(viewer_of(launch), signal.SIGKILL)
        launch.wait_for(
            "view: ended with status -9; the launch goes on; `saltus view` opens it again"
        )
        again = Program("view", "--port", "0", "--process", str(pid))
        tab = again.open_page(browser)
        assert tab.page.get_by_role("button", name="push", exact=True).is_visible()
        launch.process.send_signal(signal.SIGINT)
        assert launch.process.wait(60.0) == 130
        again.wait_for("view: the launch has ended")
        assert again.process.wait(60.0) == 0


def check_push(tab, bus):
    truths = bus.subscriber(GROUND_TRUTH, conflate=False)
    sideways = []
    jumps = []

    def jumped():
        sideways.extend(float(truth.v[1]) for truth in truths.all())
        steps = [b - a for a, b in zip(sideways, sideways[1:], strict=False)]
        jumps[:] = [step for step in steps if abs(step) > 0.1]
        return bool(jumps)

    wait_until(lambda: not jumped() and len(sideways) > 50, "the robot to walk on")
    tab.page.get_by_role("button", name="push", exact=True).click()
    wait_until(jumped, "the robot to be pushed")
    assert jumps[0] == approx(1.0, abs=0.1)  # to the left, at 1 m/s, within a tick
    sideways.clear()
    tab.page.set_viewport_size({"width": 1000, "height": 500})
    mouse = tab.page.mouse

    def dragged():
        """A machine with much to do may lose a drag, and the trunk sways: people drag again."""
        mouse.move(490, next(heights))
        mouse.down()
        mouse.move(530, 235, steps=3)
        mouse.move(570, 235, steps=3)
        mouse.up()
        tab.page.wait_for_timeout(500.0)
        return jumped()

    heights = cycle((230, 238, 222, 246))  # of the trunk
    wait_until(dragged, "the robot to be pushed by the mouse")
    assert 0.1 < abs(jumps[0]) < 4.1


def check_time(tab, bus):
    truths = bus.subscriber(GROUND_TRUTH)
    tab.page.get_by_role("tab", name="Time").click()
    tab.page.get_by_label("pause").check()
    wait_until(lambda: truths.wait(1.0) is None, "time to stop")
    tab.page.get_by_role("button", name="10 ms", exact=True).click()
    wait_until(lambda: truths.newest() is not None, "ten ticks")
    wait_until(lambda: truths.wait(1.0) is None, "time to stop again")
    tab.page.get_by_label("pause").uncheck()
    wait_until(lambda: truths.wait(1.0) is not None, "time to go on")


def check_tuning(tab, file):
    tab.page.get_by_role("tab", name="Planner").click()
    tab.page.locator("input[value^='1, 0.5']").fill("1.0, 2.0")
    wait_until(lambda: "Not sent" in tab.text(), "step sizes to be refused")
    tab.page.locator("input[value='1.0, 2.0']").fill("1.0, 0.5")
    wait_until(lambda: "In force from the next solve" in tab.text(), "step sizes to be taken")
    tab.page.locator("input[value='tuned.yaml']").fill(str(file))
    wait_until(lambda: tab.page.locator(f"input[value='{file}']").count() == 1, "the name")
    tab.page.get_by_role("button", name="save as launch file").click()
    wait_until(file.exists, "the launch file")
    wait_until(lambda: "Saved: saltus launch" in tab.text(), "the page to say so")
    assert load_launch(str(file)).hilqr.paused.step_sizes == (1.0, 0.5)
    tab.page.get_by_role("button", name="save as launch file").click()
    wait_until(lambda: "Not saved" in tab.text(), "what there is to be left alone")


def check_again(tab, launch):
    before = shown_time(tab)
    tab.page.get_by_role("tab", name="Run").click()
    tab.page.get_by_role("button", name="begin again").click()
    launch.wait_for("the launch begins again")
    assert not any(" left" in line for line in launch.lines)  # no count-down without an end
    wait_until(lambda: 0.0 < shown_time(tab) < before, "the robot at its start")


def test_without_a_launch_one_line_says_how_to_start_one(temporary, refused):
    assert "saltus launch sim --view" in refused("view")
