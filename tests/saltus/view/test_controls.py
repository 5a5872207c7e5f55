"""The controls of a page, in Chromium, of a launch that only announces itself."""

from runtime.bus import Bus
from runtime.topics import COMMAND
from saltus.launch.announcement import running_launches
from saltus.view.page import Page, view_launch
from tests.saltus.announced import announced
from tests.saltus.programs import wait_until
from tests.saltus.view.browser import Tab, chromium
from tests.sim_bridge.physics.served_world import in_a_thread
from tests.tables import yaml_table

# What sticks out of its box, which hides it, or of the window.
CUT = """() => [...document.querySelectorAll("body *")].filter(e => {
    const box = e.getBoundingClientRect(), style = getComputedStyle(e)
    if (!e.innerText?.trim() || e.children.length || !box.width || style.opacity == 0) return false
    const hidden = style.overflowX != "visible" && e.scrollWidth > e.clientWidth + 1
    return hidden || box.left < 0 || box.right > innerWidth + 1
}).map(e => e.innerText)"""
TABS = ["Push", "Drive", "Planner", "Run", "Plots", "Show"]


def test_keys_drive_labels_fit_and_a_launch_begins_again(temporary):
    with (
        announced(temporary, "a", "client") as announcer,
        chromium() as browser,
        Page(port=0) as it,
    ):
        (launch,) = running_launches()
        with in_a_thread(lambda ended: view_launch(it, launch, ended)):
            tab = Tab(browser, it.url, pictures=False)
            wait_until(lambda: "starting" in tab.text(), "the page")
            with Bus(launch.endpoints) as bus:
                check_keys(tab, bus)
            check_labels(tab)
            check_again(tab, announcer, temporary)
            assert [fault for fault in tab.faults if "preventDefault" not in fault] == []
            tab.close()


def check_keys(tab, bus):
    commands = bus.subscriber(COMMAND)
    for key, field, sign in yaml_table("""
        ArrowUp => forward => 1
        k => forward => 0
        j => yaw_rate => 1
        ArrowRight => yaw_rate => 0
        Shift+ArrowLeft => left => 1
        "0" => left => 0
    """):
        tab.page.keyboard.press(key)
        value = [0.0]

        def obeyed(field=field, sign=sign, value=value):
            command = commands.wait(1.0)
            value[:] = [getattr(command, field)] if command else value
            return (value[0] > 0.0) - (value[0] < 0.0) == sign

        wait_until(obeyed, f"the key {key}")


def check_labels(tab):
    for width in (1400, 800, 420):
        tab.page.set_viewport_size({"width": width, "height": 900})
        rows = tab.page.get_by_role("tab").evaluate_all(
            "tabs => new Set(tabs.map(each => each.getBoundingClientRect().top)).size"
        )
        assert rows == 1 or width == 420, f"tabs in {rows} rows at {width} pixels"
        for name in TABS:
            tab.page.get_by_role("tab", name=name).click()
            tab.page.wait_for_timeout(300.0)
            assert tab.page.evaluate(CUT) == [], (width, name)


def check_again(tab, announcer, temporary):
    """After a fall a button begins again with what is chosen; the page shows what follows."""
    tab.page.get_by_role("tab", name="Run").click()
    buttons = tab.page.get_by_role("button", name="begin again")
    assert buttons.count() == 1  # the one of the tab
    announcer.update(fell=True)
    wait_until(lambda: buttons.count() == 2, "the button")
    for label, choice in (("planner", "instant_qp"), ("ground", "stairs of 5 cm up")):
        tab.page.get_by_role("combobox", name=label).click()
        tab.page.get_by_role("option", name=choice).click()
    buttons.first.click()
    wait_until(lambda: announcer.next() is not None, "the launch that follows")
    following = announcer.next()
    assert following.planner == "instant_qp"
    assert following.terrain[0].rise == 0.05 and following.drive.source == "client"
    announcer.__exit__()
    with announced(temporary, "b", "client", "robot=go2"):
        wait_until(lambda: "simulated go2" in tab.text(), "the launch that follows")
        assert tab.page.get_by_role("button", name="begin again").count() == 0
