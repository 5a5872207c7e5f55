"""The built wheel holds the data that the checkout has beside its packages."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_a_wheel_holds_code_and_data_and_no_package_named_launch_and_finds_its_files(tmp_path):
    build = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--wheel-dir", str(tmp_path)]
    subprocess.run([*build, str(ROOT)], check=True, capture_output=True, timeout=300)
    (wheel,) = tmp_path.glob("saltus-*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    for folder in ("launch", "config"):
        for path in (ROOT / folder).glob("*.yaml"):
            assert f"saltus/data/{folder}/{path.name}" in names
    for file in ("robots/a1/a1.xml", "saltus/cli/main.py", "hw_bridge/__init__.py"):
        assert file in names
    assert not any(name.startswith(("launch/", "config/", "tests/")) for name in names)
    zipfile.ZipFile(wheel).extractall(tmp_path / "site")
    code = (
        "from saltus.configuration.launch import load_launch as l; import saltus; "
        "from saltus.common.files import find_file as f; "
        "from sim_bridge.suites import read_suite as r; "
        "from saltus.report.page import Subject, page; "
        "assert 'No trial' in page(Subject('sweep', None, 'x', {}, '', [])); "
        "trials = sum(len(g.trials) * g.seeds for g in r(f('config', 'table-6.1'))); "
        "print(saltus.__file__, l('push').duration, l('sim').reference, trials)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True,
        env={"PYTHONPATH": str(tmp_path / "site"), "PATH": "/usr/bin:/bin"}, timeout=60,
    )  # fmt: skip
    file, *found = done.stdout.split()
    assert file.startswith(str(tmp_path / "site")) and found == ["6.0", "walk", "16"]
