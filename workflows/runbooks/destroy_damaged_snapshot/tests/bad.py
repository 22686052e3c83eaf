"""What makes each guard that destroy-damaged-snapshot alone asks refuse, and not know."""

from __future__ import annotations

from dataclasses import replace

from agents.collectors.zfs_snapshots import Snapshot
from agents.collectors.zpool_status_errors import ErrorList
from workflows.facts import known
from workflows.tests.bends import UNREAD, Bad, Bend, pool

FILES_ONLY = ErrorList("ost_0", ("/ost_0/a",))


def every_snapshot(**changes: object) -> Bend:
    """The same snapshots with other properties."""

    def bend(facts, params):
        return pool(snapshots=lambda found: tuple(replace(one, **changes) for one in found) if known(found) else found)(facts, params)

    return bend


def still_there(facts, params):
    left = Snapshot(params.get("snapshot", ""), int(params.get("snapshot_guid", 1)), 1, 0, 0, (), 0, 0)
    return pool(snapshots=(left,))(facts, params)


REFUSED = (
    Bad("a_damaged_snapshot_is_known", "names no snapshot", pool(error_list=FILES_ONLY)),
    Bad("the_snapshot_is_the_chosen_one_and_free", "not among the damaged snapshots any more", pool(snapshots=())),
    Bad("the_snapshot_is_the_chosen_one_and_free", "is another snapshot now", every_snapshot(guid=4711)),
    Bad("the_snapshot_is_the_chosen_one_and_free", "is another snapshot now", every_snapshot(createtxg=4711)),
    Bad("the_snapshot_is_the_chosen_one_and_free", "is held 2 times", every_snapshot(holds=2)),
    Bad("the_snapshot_is_the_chosen_one_and_free", "has clones: ost_0/b", every_snapshot(clones=("ost_0/b",))),
    Bad("the_snapshot_is_gone", "is still there", still_there),
)
UNSURE = (
    Bad("a_damaged_snapshot_is_known", "its list was not read", pool(error_list=UNREAD)),
    Bad("a_damaged_snapshot_is_known", "was not read yet", pool(snapshots=())),
    *(Bad(guard, "was not read", pool(snapshots=UNREAD)) for guard in ("the_snapshot_is_the_chosen_one_and_free", "the_snapshot_is_gone")),
)
NEVER: dict[tuple[str, str], str] = {}  # (guard, outcome) that cannot be -> why
ANSWERS: dict[str, str] = {}  # what judges an answer at the rack -> a phrase with which it refuses a wrong one
