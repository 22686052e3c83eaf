"""Import a pool without writing to it: `zpool import -N -o readonly=on -o cachefile=none -R … -d /dev/disk/by-id GUID`.

Nothing on a disk changes: no label, no log is replayed, nothing is mounted. `-o ro` would only be a mount option; only
`readonly=on` keeps the pool from being written to.
"""

from __future__ import annotations

from functools import partial

from agents.operations import _importing

NAME = "zpool_import_readonly"
EFFECT = "at_most_once"
DESTRUCTIVE = False
PARAMS = _importing.PARAMS
TIMEOUT_SECONDS = _importing.TIMEOUT_SECONDS
FACTS = _importing.FACTS

check = _importing.check
argv = _importing.argv
preconditions = _importing.preconditions
describe = _importing.describe
guards = partial(_importing.guards, NAME)
probe = _importing.probe
aftermath = _importing.aftermath
