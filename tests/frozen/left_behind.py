"""The fixtures of `at_29e7ff0`, and their database restored on the tests' own servers."""

import gzip
import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.ground import SECRET, Ground

FOLDER = Path(__file__).with_name("at_29e7ff0")
RECORDED = json.loads((FOLDER / "said.json").read_text())
KEYS = ("ledger.key", "order.key")


@contextmanager
def restored(ground: Ground, name: str) -> Iterator[str]:
    """A database as it was dumped; yields its owner's URL. It is not migrated."""
    ground.drop(name)
    ground.postgres.psql(f'CREATE DATABASE "{name}" OWNER slotlight_owner TEMPLATE template0;', SECRET)
    ground.postgres.psql(gzip.decompress((FOLDER / "database.sql.gz").read_bytes()).decode(), SECRET, name)
    yield ground.url(name, "owner")
    ground.drop(name)


def keys_into(folder: Path) -> Path:
    """The installation's signing keys, readable by their owner only; the path of the ledger's."""
    for name in KEYS:
        shutil.copy(FOLDER / name, folder / name)
        (folder / name).chmod(0o600)
    return folder / KEYS[0]
