"""The guide: one Markdown file per page in docs/guide, in the order in which a new reader reads them.

The files are read as they stand in a checkout too, so links between them are links between files; here they become addresses.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path

import nh3
from django.conf import settings
from django.urls import reverse
from django.utils.text import slugify
from markdown_it import MarkdownIt
from markdown_it.token import Token

FOLDER = Path(settings.BASE_DIR) / "docs" / "guide"
PAGES = (
    "start",
    "proxy",
    "add-a-node",
    "bring-a-host",
    "people",
    "policy-file",
    "runbooks",
    "approvals",
    "unknown-and-locks",
    "by-hand",
    "take-over",
    "notices",
    "ledger",
    "postmortems",
    "backup",
    "upgrade",
    "api",
    "triage-json",
    "disk-identities",
    "what-triage-reads",
    "security",
    "faq",
)
TAGS = nh3.ALLOWED_TAGS | {"h1", "h2", "h3"}
ATTRIBUTES = {**nh3.ALLOWED_ATTRIBUTES, "h2": {"id"}, "h3": {"id"}, "code": {"class"}, "pre": {"tabindex"}, "table": set(), "a": {"href"}}
SNIPPET = 160


@dataclass(frozen=True)
class Section:
    """A part of a page under one heading, as plain text, for searching."""

    heading: str
    anchor: str
    text: str


@dataclass(frozen=True)
class Page:
    slug: str
    title: str
    html: str
    sections: tuple[Section, ...]

    @property
    def url(self) -> str:
        return reverse("guide-page", args=[self.slug])

    @property
    def parts(self) -> tuple[Section, ...]:
        return tuple(section for section in self.sections if section.anchor)


@dataclass(frozen=True)
class Hit:
    page: Page
    section: Section
    before: str
    word: str
    after: str


@cache
def pages() -> Mapping[str, Page]:
    """All pages, in order. Read once: they come with the program and change with it."""
    return {slug: _read(slug) for slug in PAGES}


def _read(slug: str) -> Page:
    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = parser.parse((FOLDER / f"{slug}.md").read_text("utf-8"))
    for token, inline in pairwise(tokens):
        if token.type == "heading_open" and token.tag != "h1":
            token.attrSet("id", slugify(inline.content))
    for token in _inside(tokens):
        if token.type == "link_open":
            token.attrSet("href", address(str(token.attrGet("href"))))
    made = parser.renderer.render(tokens, parser.options, {})
    # Wide code is scrolled from the keyboard too.
    html = nh3.clean(made.replace("<pre>", '<pre tabindex="0">'), tags=TAGS, attributes=ATTRIBUTES, link_rel="noopener")
    sections = tuple(_sections(tokens))
    return Page(slug, sections[0].heading, html, sections)


def address(href: str) -> str:
    """`add-a-node.md#the-line` is a page of ours, `../runbooks/x.md` a runbook's, everything else stays as it is."""
    if found := re.fullmatch(r"([a-z-]+)\.md(#[a-z0-9-]+)?", href):
        return reverse("guide-page", args=[found[1]]) + (found[2] or "")
    if found := re.fullmatch(r"\.\./runbooks/([a-z-]+)\.md", href):
        return reverse("runbook", args=[found[1]])
    return reverse("runbooks") if href == "../runbooks/README.md" else href


def _inside(tokens: list[Token]) -> Iterator[Token]:
    for token in tokens:
        yield token
        yield from token.children or ()


def _sections(tokens: list[Token]) -> Iterator[Section]:
    lines: list[str] = []
    heading, anchor, in_heading = "", "", False
    for token in tokens:
        if token.type == "heading_open":
            if heading:
                yield Section(heading, anchor, " ".join(lines))
            anchor, lines, in_heading = str(token.attrGet("id") or ""), [], True
        elif in_heading:
            heading, in_heading = plain(token), False
        elif token.type in ("inline", "fence", "code_block"):
            lines.append(plain(token))
    yield Section(heading, anchor, " ".join(lines))


def plain(token: Token) -> str:
    words = "".join(child.content or " " for child in token.children) if token.children else token.content
    return " ".join(words.split())


def search(asked: str) -> list[Hit]:
    """Every section that holds all the words, those with one in the heading first."""
    words = asked.lower().split()[:8]
    found = [(page, section) for page in pages().values() for section in page.sections if words and _holds(section, words)]
    ranked = sorted(found, key=lambda one: not any(word in one[1].heading.lower() for word in words))
    return [_hit(page, section, words[0]) for page, section in ranked]


def _holds(section: Section, words: list[str]) -> bool:
    text = f"{section.heading} {section.text}".lower()
    return all(word in text for word in words)


def _hit(page: Page, section: Section, word: str) -> Hit:
    at = section.text.lower().find(word)
    if at < 0:
        return Hit(page, section, _first_words(section.text), "", "")
    end = at + len(word)
    before, after = section.text[:at], section.text[end:]
    return Hit(page, section, _last_words(before), section.text[at:end], _first_words(after))


def _first_words(text: str) -> str:
    return text if len(text) <= SNIPPET // 2 else text[: SNIPPET // 2].rpartition(" ")[0] + " …"


def _last_words(text: str) -> str:
    return text if len(text) <= SNIPPET // 2 else "… " + text[-SNIPPET // 2 :].partition(" ")[2]
