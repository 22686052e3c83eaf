"""A postmortem as Markdown and as JSON. Both say which copy of what they are: digests of narrative and collection stand in them."""

import json
import re
from collections.abc import Iterator
from typing import Any

from app.ledger.forms import in_words, moment
from app.postmortems import narrative
from app.postmortems.models import Comment, Postmortem, Version

SHAPE = "slotlight.postmortem.export/1"
SPECIAL = re.compile(r"([\\`*_{}\[\]<>|#~&])")


def as_json(postmortem: Postmortem, text: Version, comments: list[Comment]) -> bytes:
    """The documented shape; see docs/guide/postmortems.md."""
    fields = {
        "shape": SHAPE,
        "postmortem": str(postmortem.pk),
        "title": postmortem.title,
        "begun": {"by": postmortem.begun_by.username, "at": moment(postmortem.begun_at)},
        "narrative": {
            "version": str(text.number),
            "by": text.by.username,
            "at": moment(text.at),
            "digest": text.digest,
            "sections": [{"title": section.title, "markdown": text.sections.get(section.slug, "")} for section in narrative.SECTIONS],
        },
        "comments": [{"by": each.by.username, "at": moment(each.at), "text": each.text} for each in comments],
        "collected": postmortem.collected,
        "collected_digest": postmortem.collected_digest,
    }
    return json.dumps(fields, ensure_ascii=False, indent=2).encode() + b"\n"


def markdown(postmortem: Postmortem, text: Version, comments: list[Comment]) -> bytes:
    return ("\n".join(_lines(postmortem, text, comments)) + "\n").encode()


def _lines(postmortem: Postmortem, text: Version, comments: list[Comment]) -> Iterator[str]:
    collected = postmortem.collected
    yield f"# Postmortem: {plain(postmortem.title)}"
    yield ""
    yield f"- Time looked at: {collected['since']} to {collected['until']} (UTC)"
    yield f"- Nodes: {', '.join(plain(node) for node in collected['nodes'])}"
    for run in collected["runs"]:
        yield f"- Run {run['run']}: {run['runbook']} on {plain(run['node'])}, {run['status']}, begun {run['began']}"
    yield f"- Narrative: version {text.number} by {plain(text.by.username)}"
    yield f"- Text kept as `{text.digest or 'not kept yet'}`"
    yield f"- Timeline kept as `{postmortem.collected_digest}`, collected {collected['collected_at']}"
    for section in narrative.SECTIONS:
        yield from ("", f"## {section.title}", "", text.sections.get(section.slug) or "_Nothing is written here yet._")
    yield from ("", "## Timeline", "", "| Time (UTC) | Clock | Source | What happened | Evidence |", "|---|---|---|---|---|")
    for entry in collected["timeline"]:
        yield f"| {entry['at']} | {entry['clock']} | {plain(source(entry))} | {plain(words(entry))} | {_behind(entry)} |"
    yield from _states(collected["states"])
    yield from ("", "## Clocks", "", *(f"- {plain(line)}" for line in collected["clocks"]))
    yield from ("", "## What is not known", "", *(f"- {plain(line)}" for line in collected["gaps"] or ["Nothing was found missing."]))
    yield from ("", "## Comments", "")
    for each in comments:
        yield f"- {moment(each.at)} {plain(each.by.username)}: {plain(each.text)}"
    if not comments:
        yield "None."


def source(entry: dict[str, Any]) -> str:
    return f"{entry['source']} ({entry['node']})" if entry["node"] else entry["source"]


def words(entry: dict[str, Any]) -> str:
    text: str = entry["text"]
    return text if entry["count"] == "1" else f"{text} ({entry['count']} times until {in_words(entry['until'])})"


def _behind(entry: dict[str, Any]) -> str:
    return " ".join(filter(None, (entry["event"] and f"event {entry['event']}", entry["digest"] and f"`{entry['digest'][:12]}`")))


def _states(states: list[dict[str, Any]]) -> Iterator[str]:
    for state in states:
        yield from ("", f"## Pool {plain(state['pool'])} of {plain(state['node'])}")
        for name in ("before", "after"):
            one = state[name]
            yield from ("", f"### {name.capitalize()}{', as said ' + one['at'] if one['at'] else ''}", "")
            yield from _block(one["lines"]) if one["lines"] else ["Not known: no kept capture shows it."]
        if state["difference"]:
            yield from ("", "### What differs", "", *_block(state["difference"]))


def _block(lines: list[str]) -> Iterator[str]:
    """As code, fenced by more back-ticks than any line of it has in a row."""
    longest = max((len(run) for line in lines for run in re.findall("`+", line)), default=0)
    fence = "`" * max(3, longest + 1)
    yield from (fence, *lines, fence)


def plain(text: str) -> str:
    """Words of a node or a person inside our Markdown: one line in which nothing is markup."""
    return SPECIAL.sub(r"\\\1", " ".join(text.split()))
