"""Builds the agent into one file that any Python 3.9 runs: agents/ without its tests and what packs it."""

import hashlib
from pathlib import Path

from agents import BUILD_FILE, RELEASE
from agents.packaging import onefile
from agents.packaging.builds import Sources

NAME = "slotlight-agent.pyz"
# What packs it makes another package too, though it is not packed.
SOURCES = Sources(("agents",), frozenset({"tests"}))
START = onefile.start("slotlight-agent", "agents.__main__", (3, 9))


def build(root: Path) -> tuple[Path, str]:
    """Write dist/slotlight-agent.pyz and return it with its SHA-256."""
    target = root / "dist" / NAME
    target.parent.mkdir(exist_ok=True)
    data = content(root)
    target.write_bytes(data)
    target.chmod(0o755)
    return target, hashlib.sha256(data).hexdigest()


def content(root: Path) -> bytes:
    """The file itself."""
    version = version_of(root).encode("ascii")
    return onefile.content(onefile.read(root, sources(root)) | {"__main__.py": START, f"agents/{BUILD_FILE}": version})


def version_of(root: Path) -> str:
    """The release, and after the plus what distinguishes its builds; dpkg orders it as it is."""
    return f"{RELEASE}+{SOURCES.build(root)}"


def sources(root: Path) -> list[Path]:
    return [path for path in SOURCES.files(root) if "packaging" not in path.parts]
