"""Rules of the structure that imports alone can't show."""

import ast
from collections.abc import Iterator
from pathlib import Path

import heapprof_cli

PACKAGE = Path(heapprof_cli.__file__).parent


def modules() -> Iterator[tuple[str, ast.Module]]:
    for path in sorted(PACKAGE.rglob("*.py")):
        yield str(path.relative_to(PACKAGE)), ast.parse(path.read_text("utf-8"))


def imports(tree: ast.Module) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return names


def uses(tree: ast.Module, owner: str, names: set[str]) -> bool:
    return any(
        isinstance(node, ast.Attribute)
        and node.attr in names
        and isinstance(node.value, ast.Name)
        and node.value.id == owner
        for node in ast.walk(tree)
    )


def test_only_one_module_starts_processes() -> None:
    starters = {
        name
        for name, tree in modules()
        if any(i.split(".")[0] in ("subprocess", "multiprocessing", "pty") for i in imports(tree))
        or uses(tree, "asyncio", {"create_subprocess_exec", "create_subprocess_shell", "subprocess"})
        or uses(tree, "os", {"fork", "system", "popen", "execv", "execvp", "execve", "spawnv", "posix_spawn"})
    }
    assert starters == {"processes.py"}


def test_only_one_module_reads_the_environment() -> None:
    assert {name for name, tree in modules() if uses(tree, "os", {"environ", "getenv", "environb"})} == {
        "environment.py"
    }


def test_only_the_command_line_prints_or_exits() -> None:
    talkers = {
        name
        for name, tree in modules()
        if any(
            isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("print", "exit", "quit")
            for node in ast.walk(tree)
        )
        or uses(tree, "sys", {"exit"})
    }
    # processes.py ends the copies that it forks: they must not run the rest of the program.
    allowed = ("virtual/__main__.py", "processes.py")
    assert all(name.startswith("cli/") or name in allowed for name in talkers), talkers
    assert {name for name, tree in modules() if uses(tree, "os", {"_exit"})} == {"processes.py"}, "ends a forked copy"


def test_modules_stay_readable() -> None:
    long = {name: n for name in sorted(PACKAGE.rglob("*.py")) if (n := len(name.read_text("utf-8").splitlines())) > 400}
    assert not long
