"""Compiled code is kept under the sources it is made of: an edit never meets what was before it."""

import os
import shutil
from pathlib import Path

import pytest

from saltus.common import compiled_code
from saltus.common.compiled_code import kernel_folder
from tests.saltus.programs import ROOT, python

INNER = "from numba import njit\n\n\n@njit(cache=True)\ndef inner(x):\n    return {} * x\n"
OUTER = (
    "from numba import njit\nfrom robots import (\n    inner as other,\n)\n\n\n"
    "@njit(cache=True)\ndef outer(x):\n    return other.inner(x) + 1.0\n"
)
ASK = (
    "import saltus; from controller.outer import outer; "
    "print(outer(1.0), bool(outer.stats.cache_hits and not outer.stats.cache_misses))"
)


@pytest.fixture
def checkout(tmp_path):
    """A checkout of its own: saltus's cache, and a function that calls one in another package."""
    (tmp_path / "saltus" / "common").mkdir(parents=True)
    common = ("__init__", "compiled_code", "files", "errors")
    for name in ("__init__", *(f"common/{name}" for name in common)):
        shutil.copy(ROOT / "saltus" / f"{name}.py", tmp_path / "saltus" / f"{name}.py")
    for path, text in (("robots/inner", INNER.format(2.0)), ("controller/outer", OUTER)):
        file = tmp_path / f"{path}.py"
        file.parent.mkdir()
        (file.parent / "__init__.py").touch()
        file.write_text(text)
    (tmp_path / "pyproject.toml").touch()
    return tmp_path


def ask(checkout, code=ASK):
    """What a process of its own prints."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("NUMBA_")}
    environment["PYTHONPATH"] = str(checkout)
    return python("-c", code, cwd=checkout, env=environment).stdout.split()


def test_an_edit_in_another_file_is_not_met_with_old_code(checkout):
    assert ask(checkout) == ["3.0", "False"]
    assert ask(checkout) == ["3.0", "True"]
    (checkout / "robots" / "inner.py").write_text(INNER.format(5.0))
    assert ask(checkout) == ["6.0", "False"]
    (checkout / "robots" / "inner.py").write_text(INNER.format(2.0))
    assert ask(checkout) == ["3.0", "True"]  # there and back costs nothing
    assert not list((checkout / "robots").rglob("*.nbi"))


def test_an_edit_elsewhere_costs_nothing(checkout):
    ask(checkout)
    for path in ("robots/other.py", "controller/__init__.py", "docs.md"):
        (checkout / path).write_text("x = 1\n")
    assert ask(checkout) == ["3.0", "True"]


def test_in_somebody_elses_checkout_kernels_are_the_users_own(tmp_path, monkeypatch):
    (tmp_path / "pyproject.toml").touch()
    monkeypatch.setattr(compiled_code, "ROOT", tmp_path)
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", "/home/user")
    assert kernel_folder() == tmp_path / ".kernels"
    monkeypatch.setattr("os.access", lambda *_: False)  # root may write anywhere
    assert kernel_folder() == Path("/home/user/saltus/kernels")
