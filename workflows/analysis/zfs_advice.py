"""ZFS's own advice, minus the sentences that would cost data that still exists.

OpenZFS advises to make a pool anew from backup also where one bad disk, or the last seconds, is all that is wrong.
"""

import re

LEFT_OUT = "ZFS advises to make the pool anew from a backup. That is not shown as advice here: it is said of pools that can be saved, too."
_RUINOUS = re.compile(r"destroy|re-?create", re.IGNORECASE)


def shown(action: str) -> str:
    """The advice as it may be shown on a page."""
    return LEFT_OUT if _RUINOUS.search(action) else action
