"""`./run new runbook|situation|collector|operation NAME`: the files that a new one needs, each place to fill in marked with FILL IN."""

import keyword
import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from launcher.bootstrap import ROOT
from launcher.say import Stop, write

SKELETONS = Path(__file__).parent / "skeletons"
LENGTH_MAX = 32
MARK = "FILL IN"


class Kind(NamedTuple):
    folder: str  # of the registry
    between: str  # what stands between the words of a name
    files: Mapping[str, str]  # skeleton -> where it goes
    registry: str  # the file that has one line for each
    then: tuple[str, ...]  # what is left to do


KINDS = {
    "runbook": Kind(
        "workflows/runbooks",
        "-",
        {
            "runbook/__init__.py": "workflows/runbooks/{module}/__init__.py",
            "runbook/guards.py": "workflows/runbooks/{module}/guards.py",
            "runbook/rehearsal.py": "workflows/runbooks/{module}/rehearsal.py",
            "runbook/tests/__init__.py": "workflows/runbooks/{module}/tests/__init__.py",
            "runbook/tests/stories.py": "workflows/runbooks/{module}/tests/stories.py",
            "runbook/tests/bad.py": "workflows/runbooks/{module}/tests/bad.py",
            "runbook/tests/test_it.py": "workflows/runbooks/{module}/tests/test_{module}.py",
        },
        "workflows/runbooks/__init__.py",
        (
            "name it in `answers` and MANUALS of the situation that it answers",
            "make its pages: ./run manage runbook_docs; python -m workflows.tests.transcripts; python -m workflows.releases",
            "keep what it says: python -m tests.frozen --keep, when the difference is additions only",
        ),
    ),
    "situation": Kind(
        "workflows/situations",
        "-",
        {
            "situation.py": "workflows/situations/{module}.py",
            "test_situation.py": "workflows/situations/tests/test_{module}.py",
        },
        "workflows/situations/__init__.py",
        (
            "say what decides it and what is advised of it in workflows/situations/_kinds_of_*.py, then python -m workflows.situations_page",
            "explain its words in a table of workflows/vocabulary, where a source has a word for it",
        ),
    ),
    "collector": Kind(
        "agents/collectors",
        "_",
        {"collector.py": "agents/collectors/{module}.py", "test_collector.py": "agents/tests/test_{module}.py"},
        "agents/collectors/__init__.py",
        (
            "put genuine texts of it into agents/tests/captures/{module}, with where they are from",
            "read it into facts: a file of workflows/facts/read, and a field in workflows/facts/model.py",
        ),
    ),
    "operation": Kind(
        "agents/operations",
        "_",
        {"operation.py": "agents/operations/{module}.py", "test_operation.py": "agents/tests/test_{module}.py"},
        "agents/operations/catalogue.py",
        (
            "say in agents/zfs_releases.py what each release does with its command, and where that was read",
            "give parameters that it takes to GOOD of agents/tests/test_operations.py",
            "have the twin do it: twin/members.py or the module of its tool",
        ),
    ),
}


def new(args: list[str], root: Path = ROOT) -> int:
    if len(args) != 2 or args[0] not in KINDS:
        raise Stop(f"Say what and its name: ./run new {'|'.join(KINDS)} NAME")
    kind, name = KINDS[args[0]], args[1]
    module = name.replace("-", "_")
    _insist(args[0], name, module, root)
    written = [_write(root, skeleton, where.format(module=module), name, module) for skeleton, where in kind.files.items()]
    write(f"Written, for the {args[0]} {name}:")
    for path in written:
        write(f"  {path}")
    write("To fill in:")
    for place in places(root, written):
        write(f"  {place}")
    write("And then:")
    for left in (f"add {module} to {kind.registry}, in its imports and its list", *kind.then):
        write(f"  {left.format(module=module)}")
    write(f"Until it is filled in, {written[-1]} fails and shows where.")
    return 0


def _insist(what: str, name: str, module: str, root: Path) -> None:
    """Stop with a sentence where the name cannot be taken."""
    between = KINDS[what].between
    if not re.fullmatch(rf"[a-z][a-z0-9]*(?:{between}[a-z0-9]+)*", name):
        example = between.join(("like", "this"))
        raise Stop(f"{name!r} is no name for a {what}: small letters and digits, words joined by {between!r}, {example} for example.")
    if len(name) > LENGTH_MAX:
        raise Stop(f"{name} has {len(name)} letters; {LENGTH_MAX} are the most, as lines with it must fit.")
    if keyword.iskeyword(module):
        raise Stop(f"{name} is a word of Python and cannot be the name of a module.")
    folder = KINDS[what].folder
    paths = (f"{folder}/{module}.py", f"{folder}/{module}", *(where.format(module=module) for where in KINDS[what].files.values()))
    if taken := [path for path in paths if (root / path).exists()]:
        raise Stop(f"{name} is taken: {taken[0]} is there. Nothing was written.")


def _write(root: Path, skeleton: str, where: str, name: str, module: str) -> str:
    """Write one file of a skeleton, with the name put in; where it stands."""
    text = (SKELETONS / f"{skeleton}.txt").read_text()
    path = root / where
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text.replace("THE_NAME", name).replace("MODULE", module))
    return where


def places(root: Path, files: list[str]) -> list[str]:
    """Every line of these files that is to be filled in, as `file:line: what`."""
    return [
        f"{file}:{number}: {line.partition(MARK)[2].strip(' :').rstrip(chr(34) + chr(39) + '),')}"
        for file in files
        for number, line in enumerate((root / file).read_text().splitlines(), 1)
        if MARK in line
    ]
