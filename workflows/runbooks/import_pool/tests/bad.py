"""What makes each guard that import-pool alone asks refuse, and not know."""

from __future__ import annotations

from workflows.tests.bad_imports import labels
from workflows.tests.bends import UNREAD, Bad, listed, listed_leaves, node

REFUSED = (
    Bad("it_was_exported_or_this_host_used_it_last", "oss77 (hostid 4d) used", labels(hostid=77, hostname="oss77", state=0)),
    Bad("every_disk_of_it_is_here", "not there: ", listed_leaves(state="UNAVAIL")),
)
UNSURE = (
    Bad("it_was_exported_or_this_host_used_it_last", "are not both known", node(hostid=UNREAD)),
    Bad("every_disk_of_it_is_here", "shows no vdevs", listed(tops=())),
)
NEVER: dict[tuple[str, str], str] = {}  # (guard, outcome) that cannot be -> why
ANSWERS: dict[str, str] = {"what_was_started": "Say what was started"}
