"""An export that our exporter did not write, and ways to change it; `look` is what the stranger's program says of it."""

import json

from app.ledger import verify
from tests.verifier.export import Files, canonical, make

FILES, LOG = make()
SIZE = len(LOG.lines)


def look(files: Files, pinned: str = "") -> verify.Report:
    report = verify.Report()
    verify.check(files, verify.Pins(pinned), report)
    return report


def lines(files: Files) -> list[bytes]:
    return files["events.jsonl"].splitlines(keepends=True)


def proofs(files: Files = FILES) -> dict:
    return json.loads(files["proofs.json"])


def keys(files: Files = FILES) -> dict:
    return json.loads(files["keys.json"])


def with_proofs(change) -> Files:
    bent = proofs()
    change(bent)
    return FILES | {"proofs.json": canonical(bent)}


def with_keys(change) -> Files:
    bent = keys()
    change(bent)
    return FILES | {"keys.json": canonical(bent)}


def with_lines(change) -> Files:
    rest = lines(FILES)
    change(rest)
    return FILES | {"events.jsonl": b"".join(rest)}
