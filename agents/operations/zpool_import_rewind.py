"""Import a pool as it was some seconds earlier, without writing: `zpool import -F -N -o readonly=on …`.

`-F` goes back two transaction groups at the most. Read-only it discards nothing for good: what is left out is still on the disks
until a person imports the pool for writing, which no operation here does. Never `-X`, never `-T`.
"""

from __future__ import annotations

from functools import partial

from agents.operations import _importing

NAME = "zpool_import_rewind"
EFFECT = "at_most_once"
DESTRUCTIVE = False
PARAMS = _importing.PARAMS
TIMEOUT_SECONDS = _importing.TIMEOUT_SECONDS
FACTS = _importing.FACTS

check = _importing.check
argv = partial(_importing.argv, more=("-F",))
preconditions = _importing.preconditions
describe = _importing.describe
guards = partial(_importing.guards, NAME)
probe = _importing.probe
aftermath = _importing.aftermath
