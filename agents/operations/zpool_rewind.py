"""Import a pool for writing as it was some seconds earlier, for good: `zpool import -F -N -o cachefile=none -R … GUID`.

`-F` goes back two transaction groups at the most, and what is newer is discarded for ever. Whatever lies further back (`-T`, `-X`) is done
for writing by a person or the vendor only, and not from here.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from agents.operations import _importing, _writing

NAME = "zpool_rewind"
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
    return ("zpool", "import", "-F", *_writing.OPTIONS, "-R", f"/mnt/rw-{params['pool']}", *_importing.WHERE, params["pool_guid"])
