"""The pages of docs/runbooks/: each runbook as Markdown, from the same lines as its page in the portal (`books`).

Whoever has no portal at hand reads here what a runbook asks, in which order, and with which commands.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from app.runs.pages import runbook_page
from app.settings import BASE_DIR
from workflows.engine.core import END, ApproveStep, ConfirmStep, ExecuteStep, ManualStep, Runbook, Step
from workflows.runbooks import RUNBOOKS

FOLDER = Path(BASE_DIR) / "docs" / "runbooks"
GUIDE = Path(BASE_DIR) / "docs" / "guide" / "runbooks.md"
LISTED = re.compile(r"(?:^- \[.+\]\(\.\./runbooks/.+\.md\)\n)+", re.MULTILINE)
MADE_BY = "<!-- Made from the definition by `./run manage runbook_docs`. Change the runbook, not this page. -->"


def pages() -> dict[str, str]:
    """Every page by file name."""
    return {"README.md": _index(), **{f"{runbook.slug}.md": markdown(runbook) for runbook in RUNBOOKS.values()}}


def behind(folder: Path = FOLDER) -> list[str]:
    """The pages that are not what the definitions give, and those that no runbook has any more."""
    wanted = pages()
    there = {path.name: path.read_text(encoding="utf-8") for path in folder.glob("*.md")} if folder.exists() else {}
    return sorted(name for name in wanted.keys() | there.keys() if wanted.get(name) != there.get(name))


def write(folder: Path = FOLDER) -> list[str]:
    """Make the pages what the definitions give; returns those that changed."""
    changed, wanted = behind(folder), pages()
    if folder == FOLDER:
        GUIDE.write_text(guide(GUIDE.read_text(encoding="utf-8")), encoding="utf-8")
    folder.mkdir(parents=True, exist_ok=True)
    for name in changed:
        if name in wanted:
            (folder / name).write_text(wanted[name], encoding="utf-8")
        else:
            (folder / name).unlink()
    return changed


def guide(text: str) -> str:
    """The guide's page on runbooks with the list of those there are."""
    rows = "".join(f"- [{book.title}](../runbooks/{book.slug}.md)\n" for book in RUNBOOKS.values())
    return LISTED.sub(lambda _: rows, text, count=1)


def _index() -> str:
    rows = "\n".join(f"| [{book.title}]({book.slug}.md) | {_plain(book.purpose)} |" for book in RUNBOOKS.values())
    return f"{MADE_BY}\n\n# Runbooks\n\n| runbook | what it is for |\n|---|---|\n{rows}\n"


def markdown(runbook: Runbook) -> str:
    return "\n".join(_parts(runbook, runbook_page.page(runbook))).rstrip() + "\n"


def _parts(runbook: Runbook, page: Mapping[str, Any]) -> Iterator[str]:
    yield f"{MADE_BY}\n\n# {_plain(runbook.title)}\n\n{_plain(runbook.purpose)}\n"
    yield f"States: `{runbook.states}`\n"
    if runbook.point_of_no_return:
        yield f"Point of no return: **{_plain(runbook.step(runbook.point_of_no_return).title)}**. Before it a run can be ended and all is as it was.\n"
    else:
        yield "There is no point of no return: nothing here writes to a pool's disks for good.\n"
    yield "## What a run is begun with\n"
    yield "".join(f"- `{name}`: {_plain(meaning)}\n" for name, meaning in runbook.params.items())
    yield f"## The way\n\n{diagram(runbook)}\n"
    yield "## Steps\n"
    for line in page["forward"]:
        yield from _step(line)
    if page["loops"]:
        yield "## What it switches on\n\nA run that ends while one of these is still switched on says so and lists it among the open loops.\n"
        yield "".join(f"- {_plain(loop['what'])} {_plain(loop['undo'])}\n" for loop in page["loops"])
    if page["back"]:
        yield "## The way back\n\nCarried out when a run ends while something is still open; what is closed already is skipped.\n"
        for line in page["back"]:
            yield from _step(line)
    yield f"Definition `{page['digest'][:16]}`. A run keeps to the definition it began with.\n"


def _step(line: Mapping[str, Any]) -> Iterator[str]:
    step: Step = line["step"]
    if line["no_return"]:
        yield "**Point of no return: from here there is only forward.**\n"
    yield f"### {line['number']}. {_plain(step.title)}\n\n*{step.kind}: {line['kind']} ({line['who']}).* {_plain(step.why)}\n"
    if line["argv"]:
        yield f"```\n{line['argv']}\n```\n"
    facts = [f"- {text}\n" for text in _facts(line, step)]
    if facts:
        yield "".join(facts)
    if line["guards"]:
        yield "Asked, and refused with:\n"
        yield "".join(_guard(guard) for guard in line["guards"])


def _facts(line: Mapping[str, Any], step: Step) -> Iterator[str]:
    if isinstance(step, ExecuteStep):
        yield f"Effect: {step.effect}{', destructive' if step.destructive else ''}."
    if asks := step.asks if isinstance(step, ManualStep) else step.phrase_hint if isinstance(step, ConfirmStep) else "":
        yield f"Asks: {_plain(asks)}"
    if isinstance(step, ApproveStep) and step.approvals > 1:
        yield f"{step.approvals} people."
    if line["needed"]:
        yield f"Passed over when it is not so: {_plain(line['needed']['sentence'])}"
    if line["until"]:
        late = f" Called late after {line['hours']} h." if line["hours"] else ""
        yield f"Until: {_plain(line['until']['sentence'])} {_plain(line['until']['why'])}{late}"
    if line["alarm"]:
        yield f"**Alarm** whenever it is not so: {_plain(line['alarm']['sentence'])} {_plain(line['alarm']['why'])}"
    for warns in line["warns"]:
        yield f"**Warns** when it is so, and does not stop the run: {_plain(warns['sentence'])} {_plain(warns['why'])}"
    if line["leads"]:
        yield f"May lead to: {_plain(', '.join(line['leads']))}."
    if line["then"]:
        yield f"Then: {_plain(line['then'])}."
    if line["fails_to"]:
        yield f"When the command fails without effect: {_plain(line['fails_to'])}."


def _guard(guard: Mapping[str, Any]) -> str:
    head = f"- {_plain(guard['sentence'])} {_plain(guard['why'])}".rstrip() + "\n"
    return head + "".join(f"  - “{_plain(words)}”\n" for words in guard["refusals"])


def _plain(text: str) -> str:
    """Text that Markdown shows as it is."""
    return " ".join(text.replace("<", "\\<").replace("*", "\\*").split())


# --- the diagram


def diagram(runbook: Runbook) -> str:
    """The steps and the ways between them, in Mermaid's words; the way back stands apart."""
    lines = ["```mermaid", "flowchart TD"]
    lines += [f"  {_name(runbook, step)}{_box(runbook, step)}" for step in runbook.steps]
    lines += [f"  {edge}" for step in runbook.steps for edge in dict.fromkeys(_edges(runbook, step))]
    if any(edge.endswith(" done") for edge in lines):
        lines.append('  done(["the end of the run"])')
    return "\n".join([*lines, "```"])


def _name(runbook: Runbook, step: Step) -> str:
    return f"s{runbook.place(step.slug) + 1}"


def _box(runbook: Runbook, step: Step) -> str:
    text = f'"{runbook.place(step.slug) + 1}. {step.title} ({step.kind})"'
    return {"DECIDE": f"{{{{{text}}}}}", "EXECUTE": f"[[{text}]]", "MANUAL": f"[/{text}/]"}.get(step.kind, f"[{text}]")


def _edges(runbook: Runbook, step: Step) -> Iterator[str]:
    here, after = _name(runbook, step), runbook.following(step)
    yield f"{here} --> {_name(runbook, after) if after else 'done'}"
    for slug in step.branches:
        yield f"{here} -.->|chosen| {'done' if slug == END else _name(runbook, runbook.step(slug))}"
    if step.fails_to:
        yield f"{here} -.->|fails| {_name(runbook, runbook.step(step.fails_to))}"
