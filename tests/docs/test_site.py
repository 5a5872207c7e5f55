"""Links of README.md and docs/ lead somewhere, also on GitHub; generated pages are complete."""

import re

import pytest

from saltus.cli.app import app
from saltus.launch.plugins import load
from studies.study import STUDIES
from tests.saltus.programs import ROOT

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
CODE = re.compile(r"^```.*?^```|`[^`\n]*`", re.MULTILINE | re.DOTALL)


def anchors(page):
    """Of the headings, as GitHub and mkdocs make them."""
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_to_files_and_headings(page):
    for target in re.findall(r"\]\(([^)\s]+)\)", CODE.sub("", page.read_text())):
        if "://" in target:
            continue
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        assert file.is_file(), target
        assert not anchor or anchor in anchors(file), target


def test_generated_pages_have_every_command_and_study():
    pages = load(f"{ROOT}/docs/hooks.py:pages")()
    commands = {command.name for command in app.registered_commands}
    assert commands <= set(re.findall(r"^## ([\w-]+)$", pages["reference/commands.md"], re.M))
    for target in re.findall(r"\]\(([^)#\s]+)", pages["index.md"]):
        assert "://" in target or target in pages or (ROOT / "docs" / target).is_file(), target
    assert set(STUDIES) == set(re.findall(r"^## (\S+)$", pages["gallery.md"], re.M))


def test_every_picture_of_a_study_belongs_to_one_and_is_small():
    for picture in (ROOT / "docs" / "pictures" / "studies").glob("*.png"):
        assert picture.stem in STUDIES and picture.stat().st_size < 100_000
