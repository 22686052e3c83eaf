"""Acting: a run is shown as it stands, and what is done is done to the version that was shown."""

import argparse
import shlex
import sys
from typing import Any

from cli.looks import Ask, said
from cli.portal import Portal
from cli.problems import DONE, USAGE, Trouble
from cli.show import clean, pairs, table, text, when

# act -> (the API's word, which field the words on the command line fill)
ACTS: dict[str, tuple[str, str]] = {
    "choose": ("choose", "value"),
    "check": ("check", ""),
    "done": ("hands", "evidence"),
    "plan": ("plan", ""),
    "confirm": ("confirm", "text"),
    "approve": ("approve", ""),
    "reject": ("reject", "reason"),
    "execute": ("execute", ""),
    "settle": ("settle", "reason"),
    "back": ("back", "step"),
    "withdraw": ("withdraw", "reason"),
    "stop": ("abort", "reason"),
}
ASKED_FIRST = ("approve", "execute")
JUDGING = ("approve", "reject")


def start(asked: argparse.Namespace, portal: Ask) -> int:
    door = portal()
    runbook = asked.runbook or _only_answer(door, asked.situation)
    found = door.post("runs", situation=asked.situation, runbook=runbook)
    said(asked, found, lambda: shown(found))
    return DONE


def _only_answer(door: Portal, situation: int) -> str:
    answers = [one["runbook"] for one in door.get("situations", situation)["answers"]]
    if len(answers) != 1:
        listed = ", ".join(answers) or "none"
        raise Trouble(
            f"Which runbook is not said. Those that answer situation {situation}: {listed}.", f"slotlight start {situation} RUNBOOK", USAGE
        )
    return answers[0]


def run(asked: argparse.Namespace, portal: Ask) -> int:
    door = portal()
    found = door.get("runs", asked.id)
    if asked.act == "why":
        said(asked, found["options"], lambda: against(found))
        return DONE
    if asked.act:
        found = _act(asked, door, found)
    said(asked, found, lambda: shown(found))
    return DONE


def _act(asked: argparse.Namespace, door: Portal, found: dict) -> dict:
    word, field = ACTS[asked.act]
    words = " ".join(asked.said)
    body: dict[str, Any] = {"version": found["version"] if asked.version is None else asked.version}
    if (field == "" and words) or (field and not words):
        raise Trouble(
            f"{asked.act} takes {f'the {field}' if field else 'no more words'}.",
            f"slotlight run {asked.id} {asked.act} {field.upper()}".strip(),
            USAGE,
        )
    if asked.act == "settle":
        body["outcome"], _, words = words.partition(" ")
        if body["outcome"] not in ("did", "did_not") or not words:
            raise Trouble("settle takes did or did_not, and how you know.", f"slotlight run {asked.id} settle did WORDS", USAGE)
    if asked.act in ASKED_FIRST and not asked.yes:
        _sure(asked, found)
    if asked.act in JUDGING:
        reason = {"reason": words} if words else {}
        return door.post("approvals", asked.id, word, **body, plan_digest=found["plan_digest"], **reason)
    return door.post("runs", asked.id, "acts", word, **body, **({field: words} if field else {}))


def _sure(asked: argparse.Namespace, found: dict) -> None:
    """What is about to be agreed to, and a yes; a program says it with --yes."""
    if not sys.stdin.isatty():
        raise Trouble(f"{asked.act} asks a person first, and nobody is at this terminal.", "Add --yes if a program shall decide it.", USAGE)
    print(shown(found), file=sys.stderr)
    word = "carries this command out, once" if asked.act == "execute" else "stands behind exactly this plan"
    print(f"\nYour {asked.act} {word}. Type {found['node']} to go on: ", end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip() != found["node"]:
        raise Trouble("That is not the node's name. Nothing was done.", "", USAGE)


def against(found: dict) -> str:
    rows = [(one["value"], one["against"]) for one in found["options"] if not one["fits"]]
    return table(("CHOICE", "WHY IT CANNOT BE CHOSEN"), rows, "Nothing stands against any choice of this step.")


def shown(found: dict) -> str:
    head = {
        "Run": f"{found['id']}, version {found['version']}: {found['title']}",
        "Node": found["node"],
        "By": f"{found['requester']}, {when(found['created_at'])}",
        "Stands": f"{found['standing']} ({found['step']})" if found["step"] else found["standing"],
        "ALARM": found["alarm"],
        "Note": found["note"],
        "Command": shlex.join(found["argv"]),
        "Plan": found["plan_digest"],
        "Approved by": ", ".join(one["by"] for one in found["approvals"]),
        "Orders": ", ".join(f"{one['operation']} {one['status']}" for one in found["orders"]),
        "Open": "; ".join(found["open_loops"]),
    }
    lines = [pairs(head), ""]
    for step in found["steps"]:
        mark = ">" if step["now"] else "x" if step["finished_at"] else " "
        lines.append(clean(f" {mark} {step['title']}" + (f"  ({step['finished_by']})" if step["finished_by"] else "")))
    lines += [""] + [text(f"{one['outcome'].upper():8}{one['reason']}") for one in found["guards"]]
    lines += [text(f"fits  {one['value']}  {one['title']}") for one in found["options"] if one["fits"]]
    if others := sum(not one["fits"] for one in found["options"]):
        lines.append(f"{others} more cannot be chosen. Why: slotlight run {found['id']} why")
    if found["phrase"]:
        lines.append(f"To confirm: slotlight run {found['id']} confirm {clean(found['phrase'])}")
    words = {api: ours for ours, (api, _) in ACTS.items()}
    lines.append("Next: " + (", ".join(words.get(act, act) for act in found["acts"]) or "nothing; it has ended"))
    return "\n".join(lines)
