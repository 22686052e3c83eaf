"""The one operation and the one runbook of the simulation: small, and of the same shape as the real replacement."""

from __future__ import annotations

import json
from dataclasses import replace
from types import SimpleNamespace

from agents.collectors.base import Capture
from agents.operations.base import UNKNOWN, Probe, check_names
from workflows.engine.core import (
    ApproveStep,
    CheckStep,
    ConfirmStep,
    DecideStep,
    ExecuteStep,
    Option,
    PlanStep,
    Runbook,
    VerifyStep,
    WaitStep,
    ask,
    ok,
    refuse,
    unknown,
)
from workflows.facts import FleetFacts
from workflows.tests import cast

SOURCE = "sim"
FRESH_SECONDS = 120.0
PARAMS = ("pool_guid", "vdev_guid", "wwid")


def collect(host) -> tuple[Capture, ...]:
    return (Capture(SOURCE, "", "data", host.read("/sim/pools").decode()),)


COLLECTOR = SimpleNamespace(NAME=SOURCE, collect=collect)


# --- the node's side


def argv(params) -> tuple[str, ...]:
    return ("zpool", "replace", params["pool_guid"], params["vdev_guid"], params["wwid"])


def preconditions(host, params) -> dict[str, str]:
    answer = json.loads(host.read("/sim/pools"))
    place = f"{params['pool_guid']}/{params['vdev_guid']}"
    return {
        "target": answer["members"].get(place, f"{UNKNOWN}the pool is not here") or "absent",
        "disk": answer["disks"].get(params["wwid"], f"{UNKNOWN}there is no such disk") or "blank",
    }


def guards(pre, params):
    wanted = {"target": "absent", "disk": "blank"}
    return tuple(("pass" if pre.get(name) == value else "refuse", f"{name} is {pre.get(name)}.") for name, value in wanted.items())


def probe(host, params, pre) -> Probe:
    now = preconditions(host, params)
    if now["target"] == params["wwid"]:
        return Probe("did", collect(host), "The disk is in its place.")
    if now["target"] == "absent" and now["disk"] == "blank":
        return Probe("did_not", collect(host), "The member is absent and the disk is blank.")
    return Probe("cannot_tell", collect(host), f"The member is {now['target']} and the disk is {now['disk']}.")


OPERATION = SimpleNamespace(
    NAME="sim_replace",
    EFFECT="at_most_once",
    DESTRUCTIVE=True,
    PARAMS=PARAMS,
    TIMEOUT_SECONDS=60.0,
    check=lambda params: check_names(params, PARAMS),
    argv=argv,
    preconditions=preconditions,
    guards=guards,
    describe=lambda host, params: {"preconditions": preconditions(host, params)},
    probe=probe,
    aftermath=lambda host, params: collect(host),
)


# --- the portal's side


def facts(node: str, text: str, age_seconds: float) -> FleetFacts:
    answer = json.loads(text)
    known = {**{f"at:{place}": disk or "absent" for place, disk in answer["members"].items()}}
    known |= {f"disk:{disk}": use or "blank" for disk, use in answer["disks"].items()}
    return FleetFacts({node: replace(cast.NODE, node=node, age_seconds=age_seconds, failures=known, ages={SOURCE: age_seconds})})


def _known(facts: FleetFacts, params, name: str) -> str | None:
    node = facts.nodes.get(params["node"])
    return node.failures.get(name) if node is not None and 0 <= node.age_seconds <= FRESH_SECONDS else None


def _place(params) -> str:
    return f"at:{params['pool_guid']}/{params['vdev_guid']}"


def the_member_is_absent(facts, params):
    text = _known(facts, params, _place(params))
    if text is None:
        return unknown("The pool could not be read of late.")
    return ok("The member is absent.") if text == "absent" else refuse(f"The member is there: {text}.")


def the_disk_is_blank(facts, params):
    text = _known(facts, params, f"disk:{params.get('wwid', '')}")
    if text is None:
        return unknown("The disk could not be read of late.")
    return ok("The disk is blank.") if text == "blank" else refuse(f"The disk is in use: {text}.")


def the_disk_is_in_its_place(facts, params):
    text = _known(facts, params, _place(params))
    if text is None:
        return unknown("The pool could not be read of late.")
    return ok("The disk is in its place.") if text == params["wwid"] else refuse(f"The place is {text}.")


def _disks(facts, params) -> tuple[Option, ...]:
    node = facts.nodes.get(params["node"])
    names = sorted(name[len("disk:") :] for name in node.failures if name.startswith("disk:")) if node else []
    return tuple(Option(n, f"Disk {n}", "", ask((the_disk_is_blank,), facts, {**params, "wwid": n})) for n in names)


def _params(facts, params):
    return {name: params.get(name, "") for name in PARAMS}


def _agrees(facts, params, plan):
    same = plan.get("argv") == list(argv(_params(facts, params)))
    return (ok("Node and portal agree."),) if same else (refuse("Node and portal mean different commands."),)


BOTH = (the_member_is_absent, the_disk_is_blank)
RUNBOOK = Runbook(
    slug="sim-replace",
    title="Replace a lost member",
    purpose="To simulate.",
    states="lost -> chosen -> checked -> planned -> confirmed -> approved -> replaced -> verified",
    point_of_no_return="replace",
    params={"node": "the node", "pool_guid": "the pool", "vdev_guid": "the member"},
    locks=lambda facts, params: (f"pool:{params['pool_guid']}", f"disk:{params['wwid']}"),
    steps=(
        DecideStep("choose", "Choose", "Why.", guards=(the_member_is_absent,), param="wwid", options=_disks),
        CheckStep("check", "Check", "Why.", guards=BOTH),
        PlanStep("plan", "Plan", "Why.", guards=BOTH, operation=OPERATION.NAME, params=_params, agrees=_agrees),
        ConfirmStep("confirm", "Confirm", "Why.", phrase=lambda params, plan: params["wwid"], phrase_hint="Type the disk."),
        ApproveStep("approve", "Approve", "Why."),
        ExecuteStep("replace", "Replace", "Why.", BOTH, operation=OPERATION.NAME, effect="at_most_once", destructive=True, params=_params),
        WaitStep("settle", "Wait", "Why.", until=the_disk_is_in_its_place, deadline_seconds=3600, sources=(SOURCE,)),
        VerifyStep("verify", "Verify", "Why.", guards=(the_disk_is_in_its_place,), sources=(SOURCE,)),
    ),
)
