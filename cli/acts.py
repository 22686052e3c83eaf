"""Acting: a run is shown as it stands, and what is done is done to the version that was shown."""

import argparse
import shlex
import sys
from typing import Any

from cli.looks import Ask, show_found
from cli.portal import Portal
from cli.problems import ABSENT, DONE, USAGE, Trouble
from cli.show import clean, pairs, table, text, when

# act -> (the API's word, which field the words on the command line fill)
ACTS: dict[str, tuple[str, str]] = {
    "choose": ("choose", "value"),
    "check": ("check", ""),
    "done": ("hands", "evidence"),
    "correct": ("correct", "evidence"),
    "plan": ("plan", ""),
    "confirm": ("confirm", "text"),
    "approve": ("approve", ""),
    "reject": ("reject", "reason"),
    "execute": ("execute", ""),
    "check-by-hand": ("check-by-hand", ""),
    "plan-by-hand": ("plan-by-hand", ""),
    "show-by-hand": ("show-by-hand", ""),
    "look-by-hand": ("look-by-hand", ""),
    "paste": ("paste", "output"),
    "settle": ("settle", "reason"),
    "back": ("back", "step"),
    "withdraw": ("withdraw", "reason"),
    "take-over": ("take-over", "reason"),
    "stop": ("abort", "reason"),
}
# act -> what a person says yes to
ASKED_FIRST = {
    "approve": "stands behind exactly this plan",
    "execute": "carries this command out, once",
    "show-by-hand": "shows you this command, to give it yourself, once; until the node shows its outcome it is not known",
    "take-over": "ends the other run's order unless its command has begun, and moves here what that run holds",
}
# act -> (field, what its first word is, those words as one would type them); the words after it fill the act's own field
FIRST: dict[str, tuple[str, str, str]] = {
    "settle": ("outcome", "did or did_not, and how you know", "did WORDS"),
    "take-over": ("holder", "the number of the run that holds it, and why", "RUN WORDS"),
}
JUDGING = ("approve", "reject")
ACCEPTING = ("approve", "execute", "show-by-hand")  # what is lost by it is accepted by name


def start(asked: argparse.Namespace, portal: Ask) -> int:
    door = portal()
    runbook = asked.runbook or _only_answer(door, asked.situation)
    found = door.post("runs", situation=asked.situation, runbook=runbook)
    show_found(asked, found, lambda: shown(found))
    return DONE


def _only_answer(door: Portal, situation: int) -> str:
    answers = [one["runbook"] for one in door.get("situations", situation)["answers"]]
    if len(answers) != 1:
        listed = ", ".join(answers) or "none"
        raise Trouble(
            f"Which runbook is not said. Those that answer situation {situation}: {listed}.", f"slotlight start {situation} RUNBOOK", USAGE
        )
    return str(answers[0])


def run(asked: argparse.Namespace, portal: Ask) -> int:
    door = portal()
    found = door.get("runs", asked.id)
    if asked.act == "why":
        show_found(asked, found["options"], lambda: against(found))
        return DONE
    if asked.act == "snippet":
        show_found(asked, found.get("by_hand"), lambda: snippet(found))
        return DONE
    if asked.act:
        found = _act(asked, door, found)
    show_found(asked, found, lambda: shown(found))
    return DONE


def snippet(found: dict[str, Any]) -> str:
    """As it stands, for a root shell on the node."""
    hand = found.get("by_hand") or {}
    if not hand.get("snippet"):
        why = (
            f"It was shown to {hand['by']} alone, and runs nothing after {when(hand['until'])}."
            if hand
            else "No command is being given by hand."
        )
        raise Trouble(f"There is no snippet for you here. {why}", f"slotlight run {found['id']} shows where the run stands.", ABSENT)
    return clean(hand["snippet"]).rstrip("\n")


def _act(asked: argparse.Namespace, door: Portal, found: dict[str, Any]) -> dict[str, Any]:
    word, field = ACTS[asked.act]
    words = sys.stdin.read() if asked.act == "paste" and not asked.words else " ".join(asked.words)
    body: dict[str, Any] = {"version": found["version"] if asked.version is None else asked.version}
    if asked.act in FIRST:
        body[FIRST[asked.act][0]], words = _first(asked, words)
    if bool(field) != bool(words):
        raise Trouble(
            f"{asked.act} takes {f'the {field}' if field else 'no more words'}.",
            f"slotlight run {asked.id} {asked.act} {field.upper()}".strip(),
            USAGE,
        )
    if asked.act == "choose" and any(one.get("by_hand") for one in found["options"]):
        body["by_hand"] = "yes"  # as the page does; one that an order is made for is chosen by it, too
    if asked.act == "correct":
        body["step"] = (found.get("correctable") or {}).get("step", "")
    if asked.act in ASKED_FIRST and not asked.yes:
        _sure(asked, found)
    if asked.act in ACCEPTING:
        body["accepted"] = asked.accepted if asked.yes else found.get("must_accept", "")
    if asked.act in JUDGING:
        reason = {"reason": words} if words else {}
        given: dict[str, Any] = door.post("approvals", asked.id, word, **body, plan_digest=found["plan_digest"], **reason)
    else:
        given = door.post("runs", asked.id, "acts", word, **body, **({field: words} if field else {}))
    return given


def _first(asked: argparse.Namespace, words: str) -> tuple[str, str]:
    """The one word that comes before the others, and those."""
    _, takes, typed = FIRST[asked.act]
    first, _, rest = words.partition(" ")
    fits = first in ("did", "did_not") if asked.act == "settle" else first.isascii() and first.isdigit()
    if not fits or not rest.strip():
        raise Trouble(f"{asked.act} takes {takes}.", f"slotlight run {asked.id} {asked.act} {typed}", USAGE)
    return first, rest.strip()


def _sure(asked: argparse.Namespace, found: dict[str, Any]) -> None:
    """What is about to be agreed to, and a yes; a program says it with --yes."""
    if not sys.stdin.isatty():
        raise Trouble(f"{asked.act} asks a person first, and this is no terminal.", "Add --yes if a program shall decide it.", USAGE)
    print(shown(found), file=sys.stderr)
    if asked.act in ACCEPTING and found.get("must_accept"):
        print(f"\n{text('By this you accept: ' + found['must_accept'])}", file=sys.stderr)
    print(f"\nYour {asked.act} {ASKED_FIRST[asked.act]}. Type {found['node']} to go on: ", end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip() != found["node"]:
        raise Trouble("That is not the node's name. Nothing was done.", "", USAGE)


def loop(asked: argparse.Namespace, portal: Ask) -> int:
    """One open loop; with `close`, a person's word that it is over, to the version of its run that was read."""
    door = portal()
    found = next((one for one in door.get("open-loops") if one["id"] == asked.id), None)
    if found is None:
        raise Trouble(f"There is no open loop {asked.id}. Perhaps it is closed already.", "slotlight loops lists the open ones.", ABSENT)
    words = " ".join(asked.words).strip()
    if asked.act and not words:
        raise Trouble("close takes how you know that it is over.", f"slotlight loop {asked.id} close WORDS", USAGE)
    if asked.act:
        version = found["run_version"] if asked.version is None else asked.version
        left = door.post("open-loops", asked.id, "close", version=version, evidence=words)
        show_found(asked, left, lambda: text(f"Closed. {len(left) or 'None'} still open."))
        return DONE
    show_found(asked, found, lambda: standing(found))
    return DONE


def standing(found: dict[str, Any]) -> str:
    head = {
        "Loop": f"{found['id']}, of run {found['run']} on {found['node']}",
        "What": found["what"],
        "It ends": found["undo"],
        "By": f"{found['by']}, {when(found['at'])}",
    }
    how = (
        f"slotlight loop {found['id']} close HOW-YOU-KNOW"
        if found["run_ended"]
        else f"run {found['run']} is under way and closes it itself"
    )
    return f"{pairs(head)}\n\nTo close it: {how}"


def against(found: dict[str, Any]) -> str:
    rows = [(one["value"], one["against"]) for one in found["options"] if not one["fits"]]
    return table(("CHOICE", "WHY IT CANNOT BE CHOSEN"), rows, "Nothing stands against any choice of this step.")


def shown(found: dict[str, Any]) -> str:
    head = {
        "Run": f"{found['id']}, version {found['version']}: {found['title']}",
        "Node": found["node"],
        "By": f"{found['requester']}, {when(found['created_at'])}",
        "Stands": f"{found['standing']} ({found['step']})" if found["step"] else found["standing"],
        "ALARM": found["alarm"],
        "LOST": " ".join(found.get("lost", ())),
        "Note": found["note"],
        "Command": shlex.join(found["argv"]),
        "Plan": found["plan_digest"],
        "Approved by": ", ".join(one["by"] for one in found["approvals"]),
        "Orders": ", ".join(f"{one['operation']} {one['status']}" for one in found["orders"]),
        "Open": "; ".join(found["open_loops"]),
        "Held by": ", ".join(f"run {one}" for one in found["held_by"]),
    }
    lines = [pairs(head), ""]
    for step in found["steps"]:
        mark = ">" if step["now"] else "x" if step["finished_at"] else " "
        lines.append(clean(f" {mark} {step['title']}" + (f"  ({step['finished_by']})" if step["finished_by"] else "")))
    lines += [""] + [text(f"{one['outcome'].upper():8}{one['reason']}") for one in found["guards"]]
    lines += [text(f"fits  {one['value']}  {one['title']}") for one in found["options"] if one["fits"]]
    if others := sum(not one["fits"] for one in found["options"]):
        lines.append(f"{others} more cannot be chosen. Why: slotlight run {found['id']} why")
    lines += _answers(found) + _by_hand(found)
    if found.get("must_accept"):
        lines.append(text(f'With --yes this must be accepted word by word, as --accepted "{found["must_accept"]}"'))
    lines += [f"To take it from there: slotlight run {found['id']} take-over {one} WORDS" for one in found["held_by"]]
    words = {api: ours for ours, (api, _) in ACTS.items()}
    lines.append("Next: " + (", ".join(words.get(act, act) for act in found["acts"]) or "nothing; it has ended"))
    return "\n".join(lines)


def _by_hand(found: dict[str, Any]) -> list[str]:
    """What to do with a command that a person gives. A portal of before says nothing of it."""
    hand, run = found.get("by_hand"), f"slotlight run {found['id']}"
    if not hand:
        return []
    lines = [text(f"{hand['by']} was shown the command, to give it by hand; it runs nothing after {when(hand['until'])}.")]
    lines += [f"For a root shell on {clean(found['node'])}: {run} snippet"] if hand["snippet"] else []
    lines += [text(f"{one['by']} pasted, {when(one['at'])}: {' '.join(one['reads'])}") for one in hand["pasted"]]
    waits = "The node is looking." if hand["looking"] else f"What it printed: {run} paste < FILE. What settles it: {run} look-by-hand"
    return [*lines, waits]


def _answers(found: dict[str, Any]) -> list[str]:
    """What is asked for in words, and what was answered before and may still be corrected. A portal of before says neither."""
    act = next((act for act in ("confirm", "done") if ACTS[act][0] in found["acts"]), "")
    lines = [text(found["asks"]), f"So: slotlight run {found['id']} {act} WORDS"] if act and found.get("asks") else []
    if before := found.get("correctable"):
        lines.append(text(f"{before['was']} was answered before. If that is wrong: slotlight run {found['id']} correct WORDS"))
    return lines
