"""Two heads at one shelf, one of them dead, for the demo, rehearsals and tests, and what somebody does on them when a step asks."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from twin import scenarios
from twin.model import Node
from workflows.facts import known
from workflows.rehearsal.hand import ASSUMED_DONE, CannotSuppose, Hand

if TYPE_CHECKING:
    from workflows.rehearsal.play import Play

HERE, DEAD, DEAD_HOSTID = "oss01", "oss02", "5b2f9c02"
SERIALS = {
    "sys_vendor": "Supermicro",
    "chassis_serial": "C8470LJ12P30033",
    "product_serial": "S290331X7505611",
    "board_serial": "NM177S004410",
}
SILENT_SINCE_SECONDS = 900.0


def the_one_that_lives(now: float) -> Node:
    """It sees every disk of the pool, and has not imported it: the labels name the other head."""
    node = scenarios.not_imported()
    node.hostname = HERE
    pool = node.pool("ost_0")
    pool.hostname, pool.hostid = DEAD, int(DEAD_HOSTID, 16)
    node.dmi = {**SERIALS, "chassis_serial": "C8470LJ12P30034", "product_serial": "S290331X7505612", "board_serial": "NM177S004411"}
    return node


def the_dead_one(now: float) -> Node:
    """It had the pool imported, and lost its power a quarter of an hour ago."""
    node = copy.deepcopy(the_one_that_lives(now))
    node.hostname, node.hostid, node.boot_id = DEAD, DEAD_HOSTID, "0c2d1b9e-6a4f-4f0e-9d53-7f1f5f0e1a02"
    node.pool("ost_0").imported = True
    node.dmi = dict(SERIALS)
    node.off_since = now - SILENT_SINCE_SECONDS
    return node


def two_heads(now: float) -> dict[str, Node]:
    return {HERE: the_one_that_lives(now), DEAD: the_dead_one(now)}


NODES: Mapping[str, Callable[[float], Mapping[str, Node]]] = {"take-over": two_heads}


def _scans_it(play: Play) -> str:
    head = play.stage.facts().nodes.get(play.params["dead_node"])
    if head is None or not known(head.firmware) or not head.firmware.genuine:
        raise CannotSuppose("The dead head reported no serial number, so nobody could show that it is the one without power.")
    return f"chassis: {next(iter(head.firmware.genuine.values()))}\nunplugged"


def _comes_back_without_it(play: Play) -> str:
    """The head reports again, and has neither imported the pool nor remembers it."""
    others = play.stage.others
    head = replace(others.nodes[play.params["dead_node"]], age_seconds=0.5, pools=(), cached=())
    play.stage.others = replace(others, nodes={**others.nodes, head.node: head})
    return ASSUMED_DONE


HANDS: Mapping[str, Hand] = {  # step -> what is taken for done there
    "fence": Hand("The dead head is unplugged, and the serial number on its chassis is scanned.", _scans_it),
    "still": Hand(""),
    "start": Hand("What the pool serves is started by hand.", lambda play: "Keys loaded, all mounted, exports started; taken for done."),
    "secure": Hand(
        "The SAS cables of the dead head are unplugged before its power returns.",
        lambda play: "Its SAS cables are unplugged; taken for done.",
    ),
    "returned": Hand("The head comes back without its SAS cables and has no pool imported.", _comes_back_without_it),
    "returned-after-all": Hand("The head comes back without its SAS cables and has no pool imported.", _comes_back_without_it),
}
