"""The walls of the house: imports go one way, and the engine stands without any interface."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def loaded_by(statement: str) -> set[str]:
    """Return the top-level modules that a fresh interpreter has after a statement."""
    program = (
        f"import json, sys\n{statement}\nprint(json.dumps(sorted({{m.split('.')[0] for m in sys.modules}})))"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(json.loads(run.stdout.splitlines()[-1]))


def test_imports_go_one_way() -> None:
    run = subprocess.run(
        [sys.executable, "-c", "from importlinter.cli import lint_imports_command as go; go()", "--no-cache"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stdout + run.stderr


@pytest.mark.parametrize(
    "statement",
    [
        "import workbench.engine; workbench.engine.Workspace",
        "from workbench.engine.workspace import Workspace; Workspace.find",
        "import workbench.engine.memory, workbench.engine.history.history, workbench.engine.catalog.lookups",
    ],
)
def test_the_engine_loads_no_interface(statement: str) -> None:
    assert not loaded_by(statement) & {"textual", "rich", "click"}


def test_opening_the_engine_loads_nothing_heavy() -> None:
    heavy = {"pygit2", "apsw", "openai", "pydantic", "llama_cpp", "watchdog", "numpy", "tomlkit", "json5"}
    assert not loaded_by("import workbench.engine; workbench.engine.Workspace") & heavy


@pytest.mark.parametrize(
    "asked",
    [
        "workspace.inbox()",
        "workspace.reflection_due()",
        "workspace.brief()",
    ],
)
def test_what_is_asked_at_a_start_loads_nothing_that_reflects(asked: str, tmp_path: Path) -> None:
    """The bench’s first place and the brief of a session only look at what waits and whether a reflection is due."""
    (tmp_path / "MEMORY.md").write_text("# MEMORY.md\n", encoding="utf-8")
    program = (
        "import json, sys\nfrom workbench.engine.workspace import Workspace\n"
        f"with Workspace.open({str(tmp_path)!r}) as workspace:\n    {asked}\n"
        "print(json.dumps(sorted(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    thinking = (
        "workbench.engine.reflection.cycle",
        "workbench.engine.reflection.model_mind",
        "workbench.engine.reflection.rules",
        "workbench.engine.services.reflections",
        "openai",
        "numpy",
    )
    assert not [name for name in json.loads(run.stdout.splitlines()[-1]) if name.startswith(thinking)]


def test_no_module_is_longer_than_can_be_read_in_one_sitting() -> None:
    long = {
        str(path.relative_to(ROOT)): count
        for path in (ROOT / "workbench").rglob("*.py")
        if (count := len(path.read_text(encoding="utf-8").splitlines())) > 700
    }
    assert not long


def test_vectors_are_multiplied_without_blas() -> None:
    """BLAS keeps a core per thread spinning: beside a busy agent a search took five times as long with two threads."""
    products = {"dot", "vdot", "inner", "matmul", "tensordot", "linalg"}
    used = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in (ROOT / "workbench").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if (isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(node.op, ast.MatMult))
        or (
            isinstance(node, ast.Attribute)
            and node.attr in products
            and ast.unparse(node.value) in ("np", "numpy")
        )
    ]
    assert not used, "use np.einsum or a sum over an axis"


@pytest.mark.parametrize("room", ["engine", "tui"])
def test_no_class_is_more_than_two_levels_deep(room: str) -> None:
    """What a service or a place does is read in one place, not up a chain; errors are a tree by nature."""
    bases: dict[str, list[str]] = {}
    for path in (ROOT / "workbench" / room).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                named_bases = [ast.unparse(base).partition("[")[0] for base in node.bases]
                bases[f"{path.relative_to(ROOT)}:{node.name}"] = named_bases
    named: dict[str, list[str]] = {}
    for key, above in bases.items():
        named.setdefault(key.rpartition(":")[2], []).extend(above)

    def levels(name: str) -> int:
        return 1 + max((levels(above) for above in named[name]), default=0) if name in named else 0

    errors = {"WorkbenchError", "Exception"}
    deep = {
        key: levels(name)
        for key in bases
        if (name := key.rpartition(":")[2]) and levels(name) > 2 and not _rests_on(name, errors, named)
    }
    assert not deep


def _rests_on(name: str, wanted: set[str], named: dict[str, list[str]]) -> bool:
    return name in wanted or any(_rests_on(above, wanted, named) for above in named.get(name, ()))
