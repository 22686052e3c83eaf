"""Builds the command line into one file that any Python 3.11 runs: cli/ and the ledger's verifier. It is not part of it."""

from pathlib import Path

from agents import RELEASE
from agents.packaging import onefile
from agents.packaging.builds import Sources
from cli import BUILD_FILE, collect, verifier

NAME = "slotlight.pyz"
VERIFIER = verifier.in_the_tree(verifier.IN_THE_TREE)
SOURCES = Sources(
    ("cli", "workflows/snapshot/slotlight-collect", *(f"app/ledger/{name}.py" for name in ("verify", *VERIFIER.PARTS))),
    frozenset({"tests"}),
)
START = onefile.start("slotlight", "cli.commands", (3, 11))


def content(root: Path) -> bytes:
    files = onefile.read(root, sources(root))
    files |= {"cli/verify.py": VERIFIER.program(), f"cli/{BUILD_FILE}": version_of(root).encode("ascii")}
    files[f"cli/{collect.SCRIPT}"] = collect.IN_THE_TREE.read_bytes()
    return onefile.content(files | {"__main__.py": START})


def version_of(root: Path) -> str:
    return f"{RELEASE}+{SOURCES.build(root)}"


def sources(root: Path) -> list[Path]:
    return [path for path in SOURCES.files(root) if path.parts[0] == "cli" and path != Path("cli/packaging.py")]
