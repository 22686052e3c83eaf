"""What makes each guard that damaged-data alone asks refuse, and not know."""

from __future__ import annotations

from agents.collectors.zpool_status_errors import ErrorList
from workflows.tests.bends import UNREAD, Bad, pool

THREE = "3 data errors, use '-v' for a list"
LISTED = ErrorList("ost_0", ("/ost_0/a", "ost_0/b@monday:/c", "<metadata>:<0x1f>"))

REFUSED = (
    Bad("the_damage_is_listed", "lists no damaged data", pool(errors="No known data errors")),
    Bad(
        "nothing_is_listed_any_more",
        "still lists 1 record of the pool itself, 1 file, 1 file of a snapshot",
        pool(errors=THREE, error_list=LISTED),
    ),
)
UNSURE = (
    Bad("the_damage_is_listed", "Which data of ost_0 is damaged is not known", pool(errors=THREE, error_list=UNREAD)),
    *(
        Bad(guard, "is not known: no errors: line was read.", pool(errors=""))
        for guard in ("the_damage_is_listed", "nothing_is_listed_any_more")
    ),
)
NEVER: dict[tuple[str, str], str] = {}  # (guard, outcome) that cannot be -> why
ANSWERS: dict[str, str] = {}  # what judges an answer at the rack -> a phrase with which it refuses a wrong one
