"""A postmortem as PDF: a page to print, sign and file.

fpdf2's own fonts know western European letters only. Where the machine has DejaVu, that is used; a character that the font at hand
lacks is written as its code point, U+2502 for instance, and the first page then says so. Nothing is left out silently.
"""

from collections.abc import Iterator, Set
from pathlib import Path
from typing import Any

from fpdf import FPDF
from fpdf.enums import WrapMode, XPos, YPos
from fpdf.fonts import FontFace, TTFFont

from app.core import job_progress
from app.ledger.forms import moment
from app.postmortems import narrative
from app.postmortems.export import source, words
from app.postmortems.models import Comment, Postmortem, Version

FONTS = tuple(
    Path(folder) for folder in ("/usr/share/fonts/truetype/dejavu", "/usr/share/fonts/dejavu-sans-fonts", "/usr/share/fonts/dejavu")
)
FILES = {"sans": ("DejaVuSans.ttf", "DejaVuSans-Bold.ttf"), "mono": ("DejaVuSansMono.ttf", "DejaVuSansMono-Bold.ttf")}
CORE = {"sans": "helvetica", "mono": "courier"}
INK, PALE, LINE = (20, 24, 28), (90, 98, 106), (213, 218, 224)
LACKING = "Characters that the font of this file lacks are written as their code point (U+...). The Markdown and JSON copies hold them as they were."
TREE_MAX = 400  # lines of one pool on paper


def pdf(postmortem: Postmortem, text: Version, comments: list[Comment]) -> bytes:
    """Made twice when a character is lacking: only then is it known that the first page must say so."""
    page = _Paper(postmortem, lacking=False)
    _write(page, postmortem, text, comments)
    if page.lacks:
        page = _Paper(postmortem, lacking=True)
        _write(page, postmortem, text, comments)
    job_progress.begin("Putting the pages together")
    return bytes(page.output())


class _Paper(FPDF):
    """A4 with the title above and the page number below."""

    def __init__(self, postmortem: Postmortem, lacking: bool) -> None:
        super().__init__(format="A4")
        self.lacking, self.lacks = lacking, False
        folder = next((folder for folder in FONTS if all((folder / name).is_file() for pair in FILES.values() for name in pair)), None)
        self.fonts_used = dict(CORE) if folder is None else {}
        self.known = None if folder is None else self._load(folder)
        self.head = postmortem.title
        self.set_title(self.fit(postmortem.title))
        self.set_creator("Slotlight")
        self.set_creation_date(postmortem.begun_at)
        self.set_margins(16, 16, 16)
        self.set_auto_page_break(True, 18)
        self.alias_nb_pages()
        self.add_page()

    def _load(self, folder: Path) -> Set[int]:
        """Returns the characters that both fonts have."""
        for family, (plain, bold) in FILES.items():
            self.add_font(family, "", folder / plain)
            self.add_font(family, "B", folder / bold)
            self.fonts_used[family] = family
        sans, mono = (set(font.cmap) for family in FILES if isinstance(font := self.fonts[family], TTFFont))
        return sans & mono

    def header(self) -> None:
        self.face("sans", 8, PALE)
        self.cell(0, 5, self.fit(f"Slotlight postmortem: {self.head}")[:110], new_x=XPos.LMARGIN, new_y=YPos.NEXT)
        self.set_draw_color(*LINE)
        self.line(self.l_margin, self.get_y(), self.w - self.r_margin, self.get_y())
        self.ln(4)

    def footer(self) -> None:
        self.set_y(-13)
        self.face("sans", 8, PALE)
        self.cell(0, 5, f"Page {self.page_no()} of {{nb}}", align="C")

    def face(self, family: str, size: float, ink: tuple[int, int, int] = INK, bold: bool = False) -> None:
        self.set_font(self.fonts_used[family], "B" if bold else "", size)
        self.set_text_color(*ink)

    def fit(self, text: str) -> str:
        """The text in characters this font has."""
        return "".join(self._letter(letter) for letter in text.expandtabs(8))

    def _letter(self, letter: str) -> str:
        has = ord(letter) in self.known if self.known is not None else ord(letter) < 256
        if letter == "\n" or (has and letter.isprintable()):
            return letter
        self.lacks = True
        return f"U+{ord(letter):04X}"

    def heading(self, text: str, size: float = 13) -> None:
        if self.get_y() > self.h - 40:
            self.add_page()
        self.ln(3)
        self.face("sans", size, bold=True)
        self.multi_cell(0, size * 0.5, self.fit(text), new_x=XPos.LMARGIN, new_y=YPos.NEXT)
        self.ln(1)

    def words(self, text: str, family: str = "sans", size: float = 9.5) -> None:
        self.face(family, size)
        wrap = WrapMode.CHAR if family == "mono" else WrapMode.WORD
        self.multi_cell(0, size * 0.47, self.fit(text), align="L", new_x=XPos.LMARGIN, new_y=YPos.NEXT, wrapmode=wrap)

    def rows(self, heads: tuple[str, ...], widths: tuple[int, ...], rows: Iterator[tuple[str, ...]]) -> None:
        self.face("sans", 7.5)
        with self.table(
            col_widths=widths, line_height=3.7, text_align="LEFT", headings_style=FontFace(emphasis="BOLD"), padding=0.6
        ) as table:
            for cells in (heads, *rows):
                table.row([self.fit(cell) for cell in cells])


def _write(page: _Paper, postmortem: Postmortem, text: Version, comments: list[Comment]) -> None:
    collected = postmortem.collected
    page.heading(postmortem.title, 18)
    page.words("\n".join(_facts(postmortem, text)))
    if page.lacking:
        page.words(LACKING)
    for section in narrative.SECTIONS:
        page.heading(section.title)
        page.words(text.sections.get(section.slug) or "Nothing is written here yet.")
    page.heading("Timeline")
    page.rows(("Time (UTC)", "Source", "What happened", "Evidence"), (30, 26, 90, 32), _timeline(collected["timeline"]))
    _states(page, collected["states"])
    page.heading("Clocks")
    page.words("\n".join(collected["clocks"]) or "No node.")
    page.heading("What is not known")
    page.words("\n".join(f"- {gap}" for gap in collected["gaps"]) or "Nothing was found missing.")
    page.heading("Comments")
    page.words("\n\n".join(f"{moment(each.at)} {each.by.username}: {each.text}" for each in comments) or "None.")
    page.heading("Evidence")
    page.words("\n".join(_digests(postmortem, text)), "mono", 7)


def _facts(postmortem: Postmortem, text: Version) -> Iterator[str]:
    collected = postmortem.collected
    yield f"Time looked at: {collected['since']} to {collected['until']} (UTC)"
    yield f"Nodes: {', '.join(collected['nodes'])}"
    for run in collected["runs"]:
        yield f"Run {run['run']}: {run['runbook']} on {run['node']}, {run['status']}, begun {run['began']}"
    yield f"Begun by {postmortem.begun_by.username}; narrative: version {text.number} by {text.by.username}"


def _timeline(entries: list[dict[str, Any]]) -> Iterator[tuple[str, ...]]:
    for entry in job_progress.over(entries, "Writing the timeline"):
        clock = "\nnode's clock" if entry["clock"] == "node" else ""
        behind = "\n".join(filter(None, (entry["event"] and f"event {entry['event']}", entry["digest"][:16])))
        yield f"{entry['at'][:10]} {entry['at'][11:19]}{clock}", source(entry), words(entry), behind


def _states(page: _Paper, states: list[dict[str, Any]]) -> None:
    for state in states:
        page.heading(f"Pool {state['pool']} of {state['node']}")
        for name in ("before", "after"):
            one = state[name]
            page.heading(f"{name.capitalize()}{', as said ' + one['at'] if one['at'] else ''}", 10)
            lines = one["lines"][:TREE_MAX] or ["Not known: no kept capture shows it."]
            cut = [f"[{len(one['lines']) - TREE_MAX} more lines]"] if len(one["lines"]) > TREE_MAX else []
            page.words("\n".join([*lines, *cut]), "mono", 7)
        if state["difference"]:
            page.heading("What differs", 10)
            page.words("\n".join(state["difference"]), "mono", 7)


def _digests(postmortem: Postmortem, text: Version) -> Iterator[str]:
    """In full, so that each can be looked up and compared with a bundle."""
    yield f"{postmortem.collected_digest}  timeline as collected"
    if text.digest:
        yield f"{text.digest}  narrative, version {text.number}"
    behind = {entry["digest"]: entry for entry in postmortem.collected["timeline"] if entry["digest"]}
    for digest, entry in behind.items():
        yield f"{digest}  {entry['node']} {entry['source']}"
    for state in postmortem.collected["states"]:
        for name in ("before", "after"):
            if state[name]["digest"]:
                yield f"{state[name]['digest']}  {state['node']} zpool_status {name}"
