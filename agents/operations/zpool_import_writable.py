"""Import a pool for writing: `zpool import -N -o cachefile=none -d /dev/disk/by-id GUID`.

It writes labels and replays the log, so what the pool could still go back to is less from then on. Without -f and without any rewind: a
pool that does not come in like this does not come in here.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from agents.operations import _importing, _writing

NAME = "zpool_import_writable"
EFFECT = "at_most_once"
DESTRUCTIVE = True
PARAMS = _writing.PARAMS
TIMEOUT_SECONDS = _writing.TIMEOUT_SECONDS
FACTS = _writing.FACTS

check = _writing.check
preconditions = _writing.preconditions
describe = _writing.describe
guards = partial(_writing.guards, NAME)
probe = _writing.probe
aftermath = _writing.aftermath


def argv(params: Mapping[str, str]) -> tuple[str, ...]:
    return ("zpool", "import", *_writing.OPTIONS, *_importing.WHERE, params["pool_guid"])
