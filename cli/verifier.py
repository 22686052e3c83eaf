"""The ledger's own verifier, which goes with this program: never the copy that lies in the bundle it is to judge."""

import argparse
import importlib
import importlib.util
from pathlib import Path
from types import ModuleType

from cli.problems import USAGE, Trouble

IN_THE_TREE = Path(__file__).resolve().parent.parent / "app" / "ledger" / "verify.py"


def verify(asked: argparse.Namespace, _portal: object) -> int:
    """The verifier's exit codes: 0 intact and pinned, 1 broken, 2 incomplete, 3 could not be established, 64 nothing to check."""
    checker = module()
    if not Path(asked.bundle).exists():
        raise Trouble(f"There is no file {asked.bundle}.", "Take a bundle with `slotlight ledger bundle RUN`.", USAGE)
    pins = (word for name in ("key", "kept", "run") if (value := getattr(asked, name)) for word in (f"--{name}", value))
    return int(checker.main([asked.bundle, *pins]))


def module() -> ModuleType:
    if importlib.util.find_spec("cli.verify") is not None:  # in the one file that is shipped
        return importlib.import_module("cli.verify")
    return in_the_tree(IN_THE_TREE)


def in_the_tree(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("slotlight_verify", path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is no Python file.")
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found
