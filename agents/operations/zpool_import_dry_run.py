"""Ask what a rewind would discard: `zpool import -F -n`, always with `-N -o readonly=on`.

It is no dry run where nothing has to be discarded: then the kernel keeps the pool imported. With `readonly=on` that writes
nothing, and the probe says that it happened. It exits 1 also when it has an answer, and says nothing at all when no rewind helps.
"""

from __future__ import annotations

from functools import partial

from agents.operations import _importing

NAME = "zpool_import_dry_run"
EFFECT = "at_most_once"
DESTRUCTIVE = False
EXITS = (0, 1)
PARAMS = _importing.PARAMS
TIMEOUT_SECONDS = _importing.TIMEOUT_SECONDS
FACTS = _importing.FACTS

check = _importing.check
argv = partial(_importing.argv, more=("-F", "-n"))
preconditions = _importing.preconditions
describe = _importing.describe
guards = partial(_importing.guards, NAME)
probe = _importing.probe
aftermath = _importing.aftermath
