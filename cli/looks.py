"""Looking: what pages show, as tables."""

import argparse
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from cli.portal import Portal
from cli.problems import DONE, REFUSED, USAGE, Trouble
from cli.show import ago, clean, pairs, put, table, text, when

Ask = Callable[[], Portal]
SEVERITIES = ("act", "watch", "info")
DIGEST = re.compile(r"[0-9a-f]{64}")


def show_found(asked: argparse.Namespace, found: Any, words: Callable[[], str]) -> None:
    put(json.dumps(found, indent=2, ensure_ascii=False) if asked.json else words())


def status(asked: argparse.Namespace, portal: Ask) -> int:
    """Exit code 1 when something is to be acted on."""
    found = portal().get("status")
    alarms = found.get("alarms", [])  # a portal that is older than this program has none
    show_found(asked, found, lambda: "\n".join([*map(_alarm, alarms), pairs(_standing(found))]))
    urgent = any(alarm["severity"] == "act" for alarm in alarms)
    return REFUSED if urgent or found["situations"].get("act") or found["orders_unknown"] else DONE


def _alarm(alarm: dict[str, Any]) -> str:
    return f"ALARM: {text(alarm['title'])}.\n  {text(alarm['text'])}\n  {text(alarm['do'])}\n"


def _counted(values: dict[str, int]) -> str:
    return ", ".join(f"{count} {name}" for name, count in values.items() if count) or "none"


def _standing(found: dict[str, Any]) -> dict[str, object]:
    return {
        "Situations": _counted(found["situations"]),
        "Nodes": _counted(found["nodes"]) + (f"; {found['silent']} SILENT" if found["silent"] else "; none silent"),
        "Runs": _counted(found["runs"]),
        "Orders unknown": found["orders_unknown"] or "none",
        "Approvals": f"{found['approvals_waiting']} waiting" if found["approvals_waiting"] else "none waiting",
        "Open loops": found["open_loops"] or "none",
        "At": when(found["at"]),
    }


def nodes(asked: argparse.Namespace, portal: Ask) -> int:
    if asked.name:
        return _node(asked, portal())
    found = list(portal().all("nodes", most=asked.most))
    rows = [
        (n["name"], "SILENT" if n["silent"] else n["state"], ago(n["last_report_at"]), n["situations"], n["worst_title"] or _why(n))
        for n in found
    ]
    show_found(
        asked, found, lambda: table(("NODE", "STATE", "REPORTED", "WRONG", "WORST"), rows, "There is no node yet. Add one in the portal.")
    )
    return DONE


def _why(node: dict[str, Any]) -> str:
    """Why a node without a situation is not called good; "" where it is, or the portal is too old to say."""
    return "" if node.get("tone", "good") == "good" else node["why"]


def _node(asked: argparse.Namespace, portal: Portal) -> int:
    found = portal.get("nodes", asked.name)
    rows = [(p["name"], p["state"], p["redundancy"], p["guid"]) for p in found["pools"]]
    head = {
        "Node": found["name"],
        "State": "SILENT" if found["silent"] else found["state"],
        "Reported": f"{ago(found['last_report_at'])} ago",
    }
    more = {"ZFS": f"{found['zfs_userland']} / module {found['zfs_module']}", "Disks": found["disks"], "Worst": found["worst_title"]}
    unknown = [text(f"not known: {why}") for why in found["not_known"]]
    unknown += [text(f"not watched: {what}") for what in found.get("judgement", {}).get("not_looked_at", ())]
    pools = table(("POOL", "STATE", "REDUNDANCY", "GUID"), rows, "No pool is imported." if not found["not_known"] else "")
    show_found(asked, found, lambda: "\n".join([pairs(head | more), *unknown, "", pools]))
    return DONE


def situations(asked: argparse.Namespace, portal: Ask) -> int:
    """The worst first, and the urgent asked for first: what `--most` leaves out is never more urgent than what it shows."""
    ask = portal()
    found: list[dict[str, Any]] = []
    for severity in SEVERITIES:
        more = {"severity": severity, "node": asked.node, "closed": "true" if asked.closed else ""}
        found += sorted(ask.all("situations", most=asked.most - len(found), **more), key=_by_what_is_left)
    found.sort(key=lambda one: bool(one.get("reviewed")))
    rows = [(s["id"], _how(s), s["node"], ago(s["opened_at"]), s["title"]) for s in found]
    show_found(asked, found, lambda: table(("ID", "HOW", "NODE", "SINCE", "WHAT"), rows, "No situation is open."))
    return DONE


def _how(one: dict[str, Any]) -> str:
    """Its severity; what an administrator has reviewed is no open trouble. A portal of before does not say that."""
    return "reviewed" if one.get("reviewed") else one["severity"].upper()


def _by_what_is_left(one: dict[str, Any]) -> tuple[Any, ...]:
    return one["may_lose"] is None, one["may_lose"], one["opened_at"]


def situation(asked: argparse.Namespace, portal: Ask) -> int:
    found = portal().get("situations", asked.id)

    def words() -> str:
        lines = [
            text(f"{_how(found)}  {found['node']}: {found['title']}"),
            f"since {when(found['opened_at'])}",
            "",
            text(found["meaning"]),
            "",
        ]
        if found.get("no_replacement"):
            lines += [text("No member of its pool may be replaced for now."), ""]
        if advice := found.get("advice", ()):  # an older portal sends none
            lines += ["What helps, first things first", *(line for place, cure in enumerate(advice, 1) for line in _cure(place, cure)), ""]
        lines += (
            ["Evidence"]
            + [text(f"{e['source']} {e['digest'] if asked.digests else e['digest'][:10]}: {e['line']}", "  ") for e in found["evidence"]]
            + [""]
        )
        lines += [f"Run {run} is under way: slotlight run {run}" for run in found["open_runs"]]
        lines += [text(f"slotlight start {found['id']} {a['runbook']}   {a['why']}") for a in found["answers"]] or [
            "No runbook answers it."
        ]
        return "\n".join(lines)

    show_found(asked, found, words)
    return DONE


def disks(asked: argparse.Namespace, portal: Ask) -> int:
    found = list(portal().all("disks", most=asked.most, q=asked.text))
    if len(found) == 1 and not asked.json:
        return _disk(asked, portal(), found[0]["wwid"])
    rows = [(d["wwid"], d["serial"], d["model"], size(d["size_bytes"])) for d in found]
    show_found(asked, found, lambda: table(("WWID", "SERIAL", "MODEL", "SIZE"), rows, "No disk has this name, serial, model or place."))
    return DONE


def _disk(asked: argparse.Namespace, portal: Portal, wwid: str) -> int:
    found = portal.get("disks", wwid)
    rows = [
        (
            s["node"],
            s["name"],
            f"{s['enclosure_id']}/{s['slot']}" if s["enclosure_id"] else "-",
            s["pool"] or "-",
            "now" if not s["until"] else f"until {when(s['until'])}",
        )
        for s in found["sightings"]
    ]
    head = {
        "WWID": found["wwid"],
        "Serial": found["serial"],
        "Model": f"{found['vendor']} {found['model']} {found['firmware']}",
        "Size": size(found["size_bytes"]),
    }
    show_found(asked, found, lambda: pairs(head) + "\n\n" + table(("NODE", "NAME", "BAY", "POOL", "WHEN"), rows, "It was never seen."))
    return DONE


def size(value: str | None) -> str:
    if value is None:
        return "not known"
    number = int(value)
    return next(
        (f"{number / factor:.3g} {unit}" for unit, factor in (("TB", 10**12), ("GB", 10**9), ("MB", 10**6)) if number >= factor),
        f"{number} B",
    )


def runs(asked: argparse.Namespace, portal: Ask) -> int:
    found = list(portal().all("runs", most=asked.most, ended="" if asked.all else "false", node=asked.node))
    rows = [(r["id"], r["node"], r["requester"], ago(r["created_at"]), f"{r['standing']}: {r['step']}", r["title"]) for r in found]
    show_found(
        asked,
        found,
        lambda: table(("RUN", "NODE", "BY", "AGE", "STANDS", "WHAT"), rows, "No run is under way. --all shows those that ended."),
    )
    return DONE


def approvals(asked: argparse.Namespace, portal: Ask) -> int:
    found = portal().get("approvals")
    rows = [(a["id"], a["node"], a["requester"], "you" if a["yours"] else "others", " ".join(a["argv"])) for a in found]
    show_found(asked, found, lambda: table(("RUN", "NODE", "BY", "JUDGED BY", "COMMAND"), rows, "Nothing waits for approval."))
    return DONE


def loops(asked: argparse.Namespace, portal: Ask) -> int:
    found = portal().get("open-loops")
    rows = [(one["id"], one["run"], one["node"], ago(one["at"]), f"{one['what']} {one['undo']}") for one in found]
    show_found(asked, found, lambda: table(("LOOP", "RUN", "NODE", "SINCE", "WHAT, AND HOW IT ENDS"), rows, "There are no open loops."))
    return DONE


def ledger(asked: argparse.Namespace, portal: Ask) -> int:
    query = {name: getattr(asked, name) for name in ("actor", "type", "run", "node")}
    found = list(portal().all("ledger", most=asked.most, q=asked.text, **query))
    rows = [(e["seq"], when(e["at"]), e["actor"], e["type"], _short(e["body"])) for e in found]
    show_found(asked, found, lambda: table(("SEQ", "WHEN", "WHO", "WHAT", "WORDS"), rows, "No event is like this."))
    return DONE


def _short(body: dict[str, Any]) -> str:
    values = {
        name: value[:10] + "…" if DIGEST.fullmatch(value) else value for name, value in body.items() if isinstance(value, str) and value
    }
    words = " · ".join(f"{name} {value}" for name, value in values.items())
    return clean(words if len(words) < 120 else words[:119] + "…")


def bundle(asked: argparse.Namespace, portal: Ask) -> int:
    data = portal().download(f"runs/{asked.run}/bundle", f"The bundle of run {asked.run}")
    target = Path(asked.output or f"slotlight-run-{asked.run}.zip")
    try:
        with target.open("xb") as out:
            out.write(data)
    except OSError as error:
        raise Trouble(f"{target} cannot be written: {error.strerror}.", "Give another name with -o.", USAGE) from None
    show_found(
        asked, {"file": str(target), "bytes": len(data)}, lambda: f"{target}  {len(data)} bytes. Check it: slotlight ledger verify {target}"
    )
    return DONE


def evidence(asked: argparse.Namespace, portal: Ask) -> int:
    """As the node said it, for a person; with --json or into a pipe the bytes themselves."""
    data = portal().download(f"evidence/{asked.digest}", "The evidence")
    if asked.json or not sys.stdout.isatty():
        sys.stdout.buffer.write(data)
        return DONE
    try:
        answer = json.loads(data)
    except ValueError:
        answer = {"text": data.decode("utf-8", "backslashreplace")}
    put("\n".join(clean(line) for line in str(answer.get("text") or answer.get("reason") or answer.get("stderr")).splitlines()))
    return DONE


def triage(asked: argparse.Namespace, portal: Ask) -> int:
    """Exit code 0: what was given is good; 1: it is not; 2: nothing of it could be read; 3: a limit was reached."""
    texts = [{"name": name, "text": _content(name)} for name in asked.files]
    try:
        found = portal().post("triage", texts=texts)
    except Trouble as trouble:
        if trouble.kind not in ("too-large", "stopped"):
            raise
        raise Trouble(trouble.text, trouble.do, TRIAGE_STOPPED) from None
    show_found(asked, found, lambda: _triaged(found))
    if not any(one["outcome"] in ("read", "partly") for one in found["texts"]):
        return USAGE
    return DONE if found["good"] else REFUSED


TRIAGE_STOPPED = 3


def _content(name: str) -> str:
    try:
        raw = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
    except OSError as error:
        raise Trouble(
            f"{name} cannot be read: {error.strerror}.", "Give the file of an output, or - for what is piped in.", USAGE
        ) from None
    return raw.decode("utf-8", "backslashreplace")


def _cure(place: int, cure: dict[str, Any]) -> list[str]:
    """One thing that helps: what to do, and below it the commands and what they take."""
    lines = [text(f"{place}. {cure['text']}", "  ")] + [text(" ".join(argv), "      ") for argv in cure["commands"]]
    about = (("right for OpenZFS", cure["releases"]), ("before", cure["needs"]), ("save first", cure["save_first"]))
    return lines + [text(f"{name}: {what}", "     ") for name, what in about if what]


def _triaged(found: dict[str, Any]) -> str:
    lines = []
    for one in found["situations"]:
        lines += [text(f"{one['severity'].upper()}  {one['node']}: {one['title']}"), text(one["meaning"], "  ")]
        lines += [text(f"- {cure['text']}", "  ") for cure in one["advice"]]
        lines += [text(" ".join(argv), "      ") for cure in one["advice"] for argv in cure["commands"]]
        lines += [text(f"runbook: {slug}", "  ") for slug in one["runbooks"]] + [""]
    rows = [
        (one["outcome"], f"{one['file']}:{one['first']}-{one['last']}", one["command"] or one["source"] or "-", one["reason"] or "")
        for one in found["texts"]
    ]
    lines += [table(("READ", "LINES", "WHAT", "WHY"), rows, "There was no output in it.")]
    if not found["good"]:
        lines += ["", *(text(f"not good: {why}") for why in found["not_good_because"])]
    lines += [text(f"not looked at: {what}") for what in found["not_looked_at"]]
    return "\n".join(lines)


LOOKS: dict[str, tuple[str, Callable[[argparse.Namespace, Ask], int]]] = {
    "status": ("how the fleet stands; exit code 1 when something is to be acted on", status),
    "nodes": ("nodes with the worst that is wrong, or one node with its pools", nodes),
    "situations": ("what is wrong, worst first", situations),
    "situation": ("one situation: what it means, its evidence, what answers it", situation),
    "evidence": ("one piece of evidence, by its whole digest; that you looked is on the record", evidence),
    "disks": ("find a disk by WWID in any form, serial, model, node:sdX or enclosure/slot", disks),
    "triage": ("what pasted outputs of a node say is wrong; exit code 0 good, 1 not good, 2 nothing read, 3 stopped at a limit", triage),
    "runs": ("runs under way", runs),
    "approvals": ("plans that wait for another person", approvals),
    "loops": ("what was switched on and not off", loops),
}


def arguments(name: str, command: argparse.ArgumentParser) -> None:
    """What each look takes."""
    if name in ("nodes", "situations", "disks", "runs"):
        command.add_argument("--most", type=int, default=200, help="so many lines at most (200)")
    if name in ("situations", "runs"):
        command.add_argument("--node", default="")
    if name == "nodes":
        command.add_argument("name", nargs="?", default="")
    if name == "situations":
        command.add_argument("--closed", action="store_true", help="what is over, too")
    if name == "situation":
        command.add_argument("id", type=int)
        command.add_argument("--digests", action="store_true", help="whole digests, for `slotlight evidence`")
    if name == "triage":
        command.add_argument("files", nargs="+", metavar="FILE", help="a saved output; - for what is piped in")
    if name == "evidence":
        command.add_argument("digest")
    if name == "disks":
        command.add_argument("text", nargs="?", default="")
    if name == "runs":
        command.add_argument("--all", action="store_true", help="those that ended, too")
