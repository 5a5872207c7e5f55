"""A launch with its view, as a person uses it: the page, the push, and a view that dies."""

import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from runtime.bus import Bus
from runtime.topics import GROUND_TRUTH
from saltus.configuration.launch import load_launch
from saltus.launch.announcement import RunningLaunch, running_launches
from tests.saltus.view.browser import Tab, chromium, wait_until
from tests.saltus.view.test_page import shown_time

COMMAND = (sys.executable, "-m", "saltus.cli.main")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as each:
        yield each


class Program:
    """A command that runs, and what it says on standard error."""

    def __init__(self, *arguments: str, **environment: str) -> None:
        self.process = subprocess.Popen(
            [*COMMAND, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, text=True, env=os.environ | environment,
        )  # fmt: skip
        self.lines: list[str] = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stderr is not None
        self.lines.extend(line.rstrip() for line in self.process.stderr)

    def wait_for(self, pattern: str) -> re.Match[str]:
        """The first line that matches."""
        wait_until(lambda: self._find(pattern) is not None, pattern)
        found = self._find(pattern)
        assert found
        return found

    def _find(self, pattern: str) -> re.Match[str] | None:
        return next(filter(None, (re.search(pattern, line) for line in self.lines)), None)

    def stop(self) -> int:
        """As Ctrl-C does; its exit status."""
        self.process.send_signal(signal.SIGINT)
        status = self.process.wait(60.0)
        self._reader.join()
        return status


@pytest.fixture(scope="module")
def launch() -> Iterator[Program]:
    program = Program("launch", "sim", "--view", "--set", "view.port=0")
    yield program
    if program.process.poll() is None:
        program.process.kill()


def running(program: Program) -> RunningLaunch:
    return next(each for each in running_launches() if each.pid == program.process.pid)


def viewer_of(program: Program) -> int:
    """Process of the view beside a launch."""
    children = subprocess.run(
        ["ps", "-o", "pid=,args=", "--ppid", str(program.process.pid)],
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    view = next(line for line in children.splitlines() if "saltus.cli.main view" in line)
    return int(view.split()[0])


def test_a_push_on_the_page_pushes_the_simulated_robot(launch: Program, browser: Browser) -> None:
    url = launch.wait_for(r"view: (http://\S+)")[1]
    tab = Tab(browser, url)
    wait_until(lambda: shown_time(tab) > 0.3, "the robot to walk")
    assert tab.pixels().std() > 5.0
    with Bus(running(launch).endpoints) as bus:
        truths = bus.subscriber(GROUND_TRUTH, conflate=False)
        sideways: list[float] = []
        jumps: list[float] = []

        def jumped() -> bool:
            for truth in truths.all():
                sideways.append(float(truth.v[1]))
            steps = [b - a for a, b in zip(sideways, sideways[1:], strict=False)]
            jumps[:] = [step for step in steps if abs(step) > 0.5]
            return bool(jumps)

        wait_until(lambda: not jumped() and len(sideways) > 50, "the robot to walk on")
        tab.page.get_by_role("button", name="push", exact=True).click()
        wait_until(jumped, "the robot to be pushed")
    assert jumps[0] == pytest.approx(1.0, abs=0.1)  # to the left, at 1 m/s, within a tick
    assert tab.faults == []
    tab.close()


def test_time_stands_still_when_the_page_says_so(launch: Program, browser: Browser) -> None:
    tab = Tab(browser, launch.wait_for(r"view: (http://\S+)")[1])
    wait_until(lambda: shown_time(tab) > 0.0, "the robot")
    tab.page.get_by_role("tab", name="Time").click()
    tab.page.get_by_label("pause").check()
    with Bus(running(launch).endpoints) as bus:
        truths = bus.subscriber(GROUND_TRUTH)
        wait_until(lambda: truths.wait(1.0) is None, "time to stop")
        tab.page.get_by_role("button", name="10 ms", exact=True).click()
        wait_until(lambda: truths.newest() is not None, "ten ticks")
        wait_until(lambda: truths.wait(1.0) is None, "time to stop again")
        tab.page.get_by_label("pause").uncheck()
        wait_until(lambda: truths.wait(1.0) is not None, "time to go on")
    assert tab.faults == []
    tab.close()


def test_the_planner_is_tuned_and_the_tuning_saved(
    launch: Program, browser: Browser, tmp_path
) -> None:
    tab = Tab(browser, launch.wait_for(r"view: (http://\S+)")[1])
    wait_until(lambda: shown_time(tab) > 0.0, "the robot")
    tab.page.get_by_role("tab", name="Planner").click()
    tab.page.locator("input[value^='1, 0.7']").fill("1.0, 2.0")
    wait_until(lambda: "Not sent" in tab.text(), "step sizes to be refused")
    tab.page.locator("input[value='1.0, 2.0']").fill("1.0, 0.5")
    wait_until(lambda: "In force from the next solve" in tab.text(), "step sizes to be taken")
    file = tmp_path / "tuned.yaml"
    tab.page.locator("input[value='tuned.yaml']").fill(str(file))
    wait_until(lambda: tab.page.locator(f"input[value='{file}']").count() == 1, "the name")
    tab.page.get_by_role("button", name="save as launch file").click()
    wait_until(file.exists, "the launch file")
    wait_until(lambda: "Saved: saltus launch" in tab.text(), "the page to say so")
    assert load_launch(str(file)).hilqr.paused.step_sizes == (1.0, 0.5)
    tab.page.get_by_role("button", name="save as launch file").click()
    wait_until(lambda: "Not saved" in tab.text(), "what there is to be left alone")
    assert tab.faults == []
    tab.close()


def test_a_view_that_dies_disturbs_nothing_and_another_may_come(
    launch: Program, browser: Browser
) -> None:
    launch.wait_for(r"view: (http://\S+)")
    os.kill(viewer_of(launch), signal.SIGKILL)
    launch.wait_for(r"view: ended with status -9; the launch goes on; `saltus view` opens it again")
    own = ("--port", "0", "--process", str(launch.process.pid))
    again = Program("view", *own)
    tab = Tab(browser, again.wait_for(r"view: (http://\S+)")[1])
    wait_until(lambda: shown_time(tab) > 0.0, "the robot in another view")
    assert tab.page.get_by_role("button", name="push", exact=True).is_visible()
    tab.close()  # two pages at once would starve each other where pictures are drawn in software
    third = Program("view", *own)
    looks_on = Tab(browser, third.wait_for(r"view: (http://\S+)")[1])
    wait_until(lambda: "another view has the controls" in looks_on.text(), "who has the controls")
    assert third.stop() == 0
    assert launch.stop() == 130
    again.wait_for("view: the launch has ended")
    assert again.process.wait(60.0) == 0


def test_without_a_launch_one_line_says_how_to_start_one(tmp_path) -> None:
    refused = Program("view", TMPDIR=str(tmp_path))  # where no launch announces itself
    assert refused.process.wait(60.0) == 2
    refused.wait_for(r"^saltus: no launch is running; start one .*: saltus launch sim --view$")
