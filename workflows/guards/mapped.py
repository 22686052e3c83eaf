"""Does the pool lie on its disks themselves, or on LUKS containers on them?

A new disk that is taken as it is would hold what ZFS writes to it without the encryption of the others. The container on it is made by a person, who
has the key. No order writes to a container.
"""

import re

from agents.domain.wwid import by_id_path
from workflows.engine.core import Params, Verdict, guard, ok, refuse, unknown
from workflows.facts import FleetFacts, known, lookup, need
from workflows.guards.subject import name_of, the_pool

_ENCRYPTED = re.compile(r"held by dm-[0-9]+ \(LUKS (.+)\)")  # agents/domain/disk_uses.py:mapped_as
_MAPPED = re.compile(r"(?:/dev/)?(?:mapper|disk/by-id/dm-(?:uuid|name)-).+|/dev/dm-[0-9]+")


@guard
def the_pool_is_not_encrypted_below(facts: FleetFacts, params: Params) -> Verdict:
    """By what holds the disks of its members. A lost member is taken to be as those that are seen."""
    pool = need(the_pool(facts, params))
    need(pool.tops, f"The vdevs of {pool.name} are not known")
    node = facts.nodes[params["node"]]
    leaves = [leaf for _, leaf in lookup.pool_leaves(pool)]
    wwids = {leaf.wwid for leaf in leaves if known(leaf.wwid)}
    serving = [leaf for leaf in leaves if leaf.state in lookup.IN_SERVICE]
    unmatched = [leaf.name for leaf in serving if not known(leaf.wwid) and _MAPPED.fullmatch(leaf.was or leaf.name)]
    below = [disk for disk in need(node.disks, f"The disks of {node.node} are not known") if known(disk.wwid) and disk.wwid in wwids]
    for disk in below:
        for use in need(disk.in_use, f"Whether {name_of(disk)} is encrypted below {pool.name} is not known"):
            if found := _ENCRYPTED.fullmatch(use):
                return refuse(f"{pool.name} lies on LUKS: {found[1]} on {name_of(disk)} is a member. {_by_hand(params)}")
    if mapped := unmatched or [leaf.name for leaf in leaves if not below and _MAPPED.fullmatch(leaf.was or leaf.name)]:
        return unknown(
            f"Whether {pool.name} is encrypted below is not known: {mapped[0]} is a mapped device, and its disk was not matched. Have the node look again."
        )
    return ok(f"No disk of {pool.name} is below LUKS, as far as its members are matched with disks.")


def _by_hand(params: Params) -> str:
    link = by_id_path(params.get("wwid", "")) or "/dev/disk/by-id/NEW_DISK"
    named = f"zpool replace {params['pool']} {params['vdev_guid']}" if params.get("vdev_guid") else "zpool …"
    beside = ", or `zpool attach` with the same three words where the member stays and gets a mirror" if params.get("vdev_guid") else ""
    return (
        "A new disk that is taken as it is would hold the pool's data unencrypted. By hand, once its serial number was compared: "
        f"`cryptsetup luksFormat {link}`, `cryptsetup open {link} NAME` and a line for NAME in /etc/crypttab like those of the others; then "
        f"`{named} /dev/mapper/NAME`{beside}."
    )
