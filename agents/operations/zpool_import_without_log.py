"""Import a pool whose log device is lost: `zpool import -N -m [-o cachefile=none] -d /dev/disk/by-id GUID`.

An ordinary import refuses then: "The devices below are missing or corrupted, use '-m' to import the pool anyway" (lib/libzfs/libzfs_pool.c:
zpool_import_props, on ENXIO of module/zfs/spa.c:spa_check_for_missing_logs). With `-m` that function sets SPA_LOG_CLEAR, and module/zfs/zil.c:zil_claim
empties the intent log of every dataset of the pool, also what stands on other logs and on the data disks: what was acknowledged synchronously and was
in no transaction group yet, and what a dataset that was not mounted since an earlier crash had not replayed. Alike in 2.1 to 2.4. It cannot be undone.

`-m` passes over lost logs alone (vdev_islog, VDEV_STATE_CANT_OPEN); the node refuses where anything else is not there, and where no log is.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from agents.collectors.zpool_import import Importable
from agents.host.host import Host
from agents.operations import _importing, _member, _ordinary, _uberblocks, _writing
from agents.operations.base import NONE, UNKNOWN, Unread, known

NAME = "zpool_import_without_log"
EFFECT = "at_most_once"
DESTRUCTIVE = True
PARAMS = _ordinary.PARAMS
TIMEOUT_SECONDS = _writing.TIMEOUT_SECONDS
HERE = ("ONLINE", "DEGRADED")
LOGS, LOST = "logs", "UNAVAIL"  # a log whose device was opened and holds something else reads FAULTED
OF_ITS_OWN = ("import.absent", "import.lost_logs", "import.state_without_logs")
FACTS = (*_writing.FACTS, *OF_ITS_OWN)

check, probe = _ordinary.check, _writing.probe
argv = partial(_ordinary.argv, more=("-m",))
aftermath = _writing.aftermath


def absent_beside_the_logs(listed: Importable) -> str:
    return _importing.named_absent(_importing.held(listed, lambda section: section not in (*_importing.ASIDE, LOGS)))


def lost_logs(listed: Importable) -> str:
    """Each log that is not there, of a mirror with all of its disks, or "none". Raises Unread."""
    logs = _importing.held(listed, lambda section: section == LOGS)
    if other := [f"{log.name} is {log.state}" for log in logs if log.state not in (*HERE, LOST)]:
        raise Unread(f"the log {', '.join(other)}, so it may be there")
    return "; ".join(_importing.named_absent((log,)) for log in logs if log.state == LOST) or NONE


def state_without_logs(listed: Importable) -> str:
    """As the listing has it since 2.1.12, which is made with -m: a lost log makes the pool DEGRADED there. Before, the log alone makes it UNAVAIL."""
    return "DEGRADED" if listed.lacks_a_log else listed.state


def preconditions(host: Host, params: Mapping[str, str]) -> dict[str, str]:
    return {
        **_importing.preconditions(host, params, OWN),
        "uberblocks.newest": known(lambda: _uberblocks.newest(_uberblocks.rings(host, params))),
    }


OWN = {"import.absent": absent_beside_the_logs, "import.lost_logs": lost_logs, "import.state_without_logs": state_without_logs}


def describe(host: Host, params: Mapping[str, str]) -> dict[str, object]:
    facts = preconditions(host, params)
    return {
        **_importing.plan_facts(facts),
        "outgoing": {"pool": params["pool"], "newest": facts["uberblocks.newest"], "log": facts["import.lost_logs"]},
        "preconditions": facts,
    }


def guards(pre: Mapping[str, str], params: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    pool, lost = params["pool"], pre.get("import.lost_logs", UNKNOWN)
    nothing = (("refuse", f"Every log of {pool} is there, so nothing has to be lost. Import it with import-pool."),) if lost == NONE else ()
    away = f"Of {pool} more than a log is not there: {{}}. Bring that back first; -m passes over lost logs alone."
    down = f"{pool} is listed as {{}}, so it does not come in without its log either. Look at the rows of the listing."
    own = _member.judge((("import.absent", (NONE,), away), ("import.state_without_logs", HERE, down)), pre, OF_ITS_OWN)
    return (*_writing.guards(NAME, pre, params), *own, *nothing)
