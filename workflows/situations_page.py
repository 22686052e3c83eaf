"""docs/situations.md: each kind of situation with its severities, what decides it, its runbooks, and what is advised first.

A situation without a runbook says why. `python -m workflows.situations_page` writes the page from the tables (`_kinds_of_*.py`) and the detectors' `MANUALS`; a test says when it is behind.
"""

from collections.abc import Iterator
from pathlib import Path

from workflows.situations import SITUATIONS, _kinds_of_disks, _kinds_of_nodes, _kinds_of_pools
from workflows.situations._kinds import Kind, Kinds
from workflows.situations._without_runbook import REASONS

PAGE = Path(__file__).resolve().parents[1] / "docs" / "situations.md"
HEAD = """<!-- Made from workflows/situations/_kinds_of_*.py by `python -m workflows.situations_page`. Change the tables, not this page. -->

# Situations

What Slotlight calls wrong, or worth knowing: what decides it, how severe it can be, which runbook answers it or why none does, and what is advised, the first
thing first. A detector with more facts says more: which member by its guid, which disk by WWID, serial number and bay, and the commands. What
stands here is advised where a text holds too little for that.

- `act` needs a person now, `watch` on a working day, `info` is to be known. A consequence of another situation is never more than `watch`.
- While a pool is down, suspended, hung, read-only, held by another host, or many of its members fail at once, nothing that replaces a disk is
  advised for it; of a pool that does not serve, nothing that changes it. The advice says then what comes first.
- “wait” says why nothing is to be done. What must hold before, and what is to be kept first, stands behind each.
"""
SECTIONS: tuple[tuple[str, Kinds], ...] = (
    ("Pools and vdevs", _kinds_of_pools.KINDS),
    ("Disks and their links", _kinds_of_disks.KINDS),
    ("Nodes, controllers, enclosures and texts", _kinds_of_nodes.KINDS),
)


def page() -> str:
    return "\n".join(_lines()).rstrip() + "\n"


def _lines() -> Iterator[str]:
    yield HEAD
    for title, kinds in SECTIONS:
        yield f"## {title}\n"
        yield "| situation | severity | what decides | runbook | advice | if nothing is done |"
        yield "|---|---|---|---|---|---|"
        for slug, kind in kinds.items():
            yield f"| `{slug}` | {', '.join(kind.severities)} | {_cell(kind.decides)} | {_books(slug)} | {_advice(kind)} | {_cell(_sentence(kind.unattended))} |"
        yield ""


def _books(slug: str) -> str:
    manuals = SITUATIONS[slug].MANUALS if slug in SITUATIONS else ()
    return ", ".join(f"[{book}](runbooks/{book}.md)" for book in manuals) or f"none: {_cell(REASONS.get(slug, ''))}"


def _advice(kind: Kind) -> str:
    return "<br>".join(
        f"{number}. *{cure.kind}*: {_cell(_whole(cure.text, cure.needs, cure.save_first))}" for number, cure in enumerate(kind.advice, 1)
    )


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] or "-"


def _whole(text: str, needs: str, save_first: str) -> str:
    return " ".join(part for part in (text, f"Needs: {needs}" if needs else "", f"Keep first: {save_first}" if save_first else "") if part)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    PAGE.write_text(page())
