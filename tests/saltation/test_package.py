"""The library's own package has all of its folders, and needs nothing else of this project."""

import tomllib
from pathlib import Path

import saltation


def test_the_package_lists_every_folder():
    folder = Path(saltation.__file__).parent
    project = tomllib.loads((folder / "pyproject.toml").read_text())
    listed = project["tool"]["setuptools"]["packages"]
    found = {file.parent.relative_to(folder.parent) for file in folder.rglob("__init__.py")}
    built = folder / "build"
    found = {each for each in found if not (folder.parent / each).is_relative_to(built)}
    assert sorted(listed) == sorted(".".join(each.parts) for each in found)
