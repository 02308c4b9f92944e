"""Patterns are compiled when they are first used, and each of ours can be."""

from __future__ import annotations

import importlib
import pkgutil
import re
import subprocess
import sys

import workbench
from workbench.engine.patterns import lazy_pattern


def test_a_pattern_answers_as_one_of_re() -> None:
    pattern = lazy_pattern(r"(?P<day>\d+)(?=\.)", re.ASCII)
    assert pattern.pattern == r"(?P<day>\d+)(?=\.)"
    found = pattern.search("on 12.")
    assert found is not None
    assert found["day"] == "12"
    assert pattern.sub("x", "1. 2.") == "x. x."
    assert pattern.groupindex == {"day": 1}
    assert pattern.flags & re.ASCII


def test_every_pattern_of_a_module_can_be_compiled() -> None:
    lazy, count = type(lazy_pattern("")), 0
    for found in pkgutil.walk_packages(workbench.__path__, "workbench."):
        if found.name.endswith(("__main__", "llama_worker")):
            continue
        for value in vars(importlib.import_module(found.name)).values():
            if isinstance(value, lazy):
                count += value.groups >= 0
    assert count > 300


def test_a_start_compiles_no_pattern_of_ours() -> None:
    """Each is compiled by what asks it: most of a start’s are never asked."""
    code = (
        "import re, sys\ncompiled = re._compiler.compile\nours = []\n"
        "def note(pattern, flags=0):\n"
        "    frame = sys._getframe()\n"
        "    while 're/__init__' in frame.f_code.co_filename or frame.f_code is note.__code__:\n"
        "        frame = frame.f_back\n"
        "    ours.append(frame.f_globals['__name__'])\n"
        "    return compiled(pattern, flags)\n"
        "re._compiler.compile = note\n"
        "import workbench.engine.workspace, workbench.engine.services.inbox, workbench.tui.frame.app\n"
        "print(sorted({name for name in ours if name.startswith('workbench')}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
