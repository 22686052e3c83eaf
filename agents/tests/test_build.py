"""Each file that is handed out says which build it is, and to a Python that is too old one sentence."""

from __future__ import annotations

import ast
import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from agents import RELEASE, VERSION
from agents.packaging import zipapp
from cli import VERSION as CLI_VERSION
from cli import packaging as cli

ROOT = Path(__file__).resolve().parents[2]
VERIFIER = cli.VERIFIER.program().decode()  # as it goes into exports
# what is read first, whom it names, and what it needs
FIRST = {
    "agent": (zipapp.START.decode(), "slotlight-agent", (3, 9)),
    "command line": (cli.START.decode(), "slotlight", (3, 11)),
    "verifier": (VERIFIER, "verify.py", (3, 9)),
}
OLD = [(3, 6, 8), (3, 7, 3), (3, 8, 10)]


@pytest.mark.parametrize(("packed", "word"), [(zipapp, "version"), (cli, "--version")], ids=["agent", "command line"])
def test_the_one_file_says_its_build(packed, word, tmp_path):
    file = tmp_path / packed.NAME
    file.write_bytes(packed.content(ROOT))
    output = subprocess.run([sys.executable, "-I", str(file), word], capture_output=True, text=True, check=True).stdout.strip()
    assert output == packed.version_of(ROOT)
    assert output.startswith(f"{RELEASE}+2")
    assert len(output) <= 40, "the portal keeps so many"


def test_a_checkout_has_no_build():
    assert (VERSION, CLI_VERSION) == (RELEASE, "checkout")


@pytest.mark.parametrize("name", FIRST)
@pytest.mark.parametrize("version", OLD, ids=lambda version: ".".join(map(str, version)))
def test_a_python_that_is_too_old_gets_one_sentence(name, version, monkeypatch, tmp_path):
    text, program, least = FIRST[name]
    tree = ast.parse(text, feature_version=(3, 6))
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module == "__future__"]  # 3.6 knows fewer
    file = tmp_path / program
    file.write_text(text)
    monkeypatch.setattr(sys, "version_info", version)
    with pytest.raises(SystemExit) as end:
        runpy.run_path(str(file), run_name="__main__")
    assert str(end.value).startswith(f"{program} needs Python {least[0]}.{least[1]} or newer, and this ")


def test_the_verifier_has_no_annotation_that_its_oldest_python_cannot_evaluate():
    every = [node for node in ast.walk(ast.parse(VERIFIER)) if isinstance(node, (ast.arg, ast.FunctionDef, ast.AnnAssign))]
    lines = [node.returns if isinstance(node, ast.FunctionDef) else node.annotation for node in every]
    joined = [ast.unparse(one) for one in lines if one is not None and any(isinstance(part, ast.BitOr) for part in ast.walk(one))]
    assert joined == [], "3.9 has no `A | B` between types"


def old_pythons() -> list[str]:
    """Those of this machine, if it has any: where pyenv puts them."""
    found = (Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions").glob("3.[678].*/bin/python")
    return sorted(map(str, found))


@pytest.mark.parametrize("python", old_pythons())
def test_an_old_python_of_this_machine_says_one_sentence(python, tmp_path):
    for packed in (zipapp, cli):
        (tmp_path / packed.NAME).write_bytes(packed.content(ROOT))
    (tmp_path / "verify.py").write_text(VERIFIER)
    for file in (tmp_path / zipapp.NAME, tmp_path / cli.NAME, tmp_path / "verify.py", ROOT / "app/ledger/verify.py"):
        ran = subprocess.run([python, str(file), "--help"], capture_output=True, text=True, check=False)
        assert (ran.returncode, ran.stdout, ran.stderr.count("\n")) == (1, "", 1), ran.stderr
        assert "or newer, and this " in ran.stderr
