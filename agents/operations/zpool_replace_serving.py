"""Replace a member that still serves by a blank disk beside it: `zpool replace POOL VDEV_GUID /dev/disk/by-id/wwn-0x…`.

The command, the facts and the probe are those of `zpool_replace`; the member must be in service instead of absent. ZFS puts both disks into a
`replacing` vdev and lets the old one go when the new one is filled, so the old disk serves all the while. It is an operation of its own, because
the owner of a node who allows that lost disks are replaced has not said that a disk which serves may go.
"""

from __future__ import annotations

from collections.abc import Mapping

from agents.operations import _member, _released, zpool_replace

NAME = "zpool_replace_serving"
EFFECT = "at_most_once"
DESTRUCTIVE = True
PARAMS = zpool_replace.PARAMS
TIMEOUT_SECONDS = zpool_replace.TIMEOUT_SECONDS
FACTS = zpool_replace.FACTS
PARENTS = tuple(parent for parent in zpool_replace.PARENTS if not parent.startswith("spare"))

check = zpool_replace.check
argv = zpool_replace.argv
preconditions = zpool_replace.preconditions
describe = zpool_replace.describe
probe = zpool_replace.probe
aftermath = zpool_replace.aftermath


def guards(pre: Mapping[str, str], params: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """(outcome, reason) each. A fact that is missing refuses like any other."""
    lost = f"The member {params['vdev_guid']} is {{}} and serves nothing. A lost member is replaced by `zpool_replace`."
    asked = (*zpool_replace.questions(params, _member.SERVING, lost, PARENTS), *_member.no_expansion(params))
    return (*_member.judge(asked, pre, FACTS), *_released.verdicts(NAME, pre))
