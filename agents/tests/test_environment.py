"""Every process that an agent starts gets an environment of our own: a variable of whoever started the agent may switch the power of slots on."""

import ast
from pathlib import Path

import pytest

from agents.host.host import ENVIRONMENT

AGENTS = Path(__file__).resolve().parent.parent
STARTS = {"Popen", "run", "call", "check_call", "check_output", "getoutput", "getstatusoutput"}
OTHER_WAYS = ("exec", "spawn", "posix_spawn", "system", "popen", "startfile", "fork")  # of os
BUILDS = {"packaging"}  # builds the packages, on no storage node
FILES = [p for p in sorted(AGENTS.rglob("*.py")) if not {"tests", *BUILDS} & set(p.relative_to(AGENTS).parts)]


def starts(tree: ast.AST):
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name):
            module, name = node.func.value.id, node.func.attr
            if module == "subprocess" and name in STARTS:
                yield node
            if (module == "os" and name.startswith(OTHER_WAYS)) or (module == "asyncio" and name.startswith("create_subprocess")):
                yield node


def names(node: ast.AST) -> set[str]:
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


def is_ours(call: ast.Call, tree: ast.AST) -> bool:
    """`env=ENVIRONMENT`, or `**how` where `how` is a display that has it."""
    given = {keyword.arg: keyword.value for keyword in call.keywords}
    if "env" in given:
        return names(given["env"]) == {"ENVIRONMENT"}
    spread = names(given[None]) if None in given else set()
    displays = [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and names(node.targets[0]) & spread and isinstance(node.value, ast.Dict)
    ]
    return any(
        isinstance(key, ast.Constant) and key.value == "env" and names(value) == {"ENVIRONMENT"}
        for display in displays
        for key, value in zip(display.keys, display.values)
    )


def strangers(text: str) -> list[int]:
    tree = ast.parse(text)
    return [call.lineno for call in starts(tree) if not is_ours(call, tree)]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(AGENTS)))
def test_no_process_inherits_an_environment(path):
    assert strangers(path.read_text()) == []


def test_the_question_finds_what_it_asks_for():
    for text in ("subprocess.run(['zpool'])", "subprocess.Popen(argv, env=os.environ)", "os.execv(a, b)", "subprocess.run(a, **how)"):
        assert strangers(f"how = {{'cwd': '/'}}\n{text}\n") == [2], text
    assert strangers("how = {'env': ENVIRONMENT}\nsubprocess.run(a, **how)\nsubprocess.run(a, env=ENVIRONMENT)") == []
    found = [call for path in FILES for call in starts(ast.parse(path.read_text()))]
    assert len(found) >= 3, "agents start processes in host.py and minder.py"


def test_it_has_nothing_that_zfs_listens_to():
    assert set(ENVIRONMENT) == {"PATH", "LC_ALL", "TZ", "HOME"}
