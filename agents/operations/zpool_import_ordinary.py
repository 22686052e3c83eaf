"""Import a pool as the boot would, but mount nothing: `zpool import -N [-o cachefile=none] -d /dev/disk/by-id GUID`.

Of a pool that was exported, or that this very host used last. It writes labels and replays the log, as every import does that is not
read-only; exporting it again is the way back. At most once, as another host may have taken the pool between two attempts.
"""

from __future__ import annotations

from functools import partial

from agents.operations import _ordinary, _writing

NAME = "zpool_import_ordinary"
EFFECT = "at_most_once"
DESTRUCTIVE = False
PARAMS = _ordinary.PARAMS
TIMEOUT_SECONDS = _writing.TIMEOUT_SECONDS
FACTS = _writing.FACTS

check, argv = _ordinary.check, _ordinary.argv
preconditions, describe, probe = _writing.preconditions, _writing.describe, _writing.probe
guards = partial(_writing.guards, NAME)
aftermath = _writing.aftermath
