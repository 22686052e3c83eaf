"""What people write: its sections, how two who write at once are brought together, and Markdown as safe HTML. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass

import nh3
from markdown_it import MarkdownIt

TEXT_MAX = 50_000  # characters of one section
COMMENT_MAX = 5000


@dataclass(frozen=True)
class Section:
    slug: str
    title: str
    hint: str


SECTIONS = (
    Section("happened", "What happened", "In two paragraphs, for a reader who was not there. The timeline below has the details."),
    Section("impact", "Impact", "Who noticed what, from when to when; which data was at risk."),
    Section("well", "What went well", "What helped, and should be kept."),
    Section("badly", "What did not", "What was slow, missing, misleading or lucky. About things, not about people."),
    Section("actions", "Actions", "One line each: what is to be done, and @who does it until when."),
)
TITLES: Mapping[str, str] = {section.slug: section.title for section in SECTIONS}
EMPTY: Mapping[str, str] = {section.slug: "" for section in SECTIONS}

_MARKDOWN = MarkdownIt("commonmark", {"html": False, "linkify": False}).enable("table").enable("strikethrough")
_TAGS = {
    *("p", "br", "hr", "h3", "h4", "h5", "h6", "ul", "ol", "li", "blockquote", "pre", "code", "em", "strong", "s", "a"),
    *("table", "thead", "tbody", "tr", "th", "td"),
}


def html(markdown: str) -> str:
    """Markdown as HTML that nothing can be hidden in: no raw HTML, no images, no styles, links to http, https and mail only."""
    made = _MARKDOWN.render(markdown)
    for level in (2, 1):  # the page has its own h1 and h2
        made = made.replace(f"<h{level}>", f"<h{level + 2}>").replace(f"</h{level}>", f"</h{level + 2}>")
    return nh3.clean(made, tags=_TAGS, attributes={"a": {"href"}, "ol": {"start"}}, url_schemes={"http", "https", "mailto"})


@dataclass(frozen=True)
class Merged:
    """Both texts together. `conflicts` are the sections that both changed: there `sections` holds what the second wrote."""

    sections: dict[str, str]
    conflicts: tuple[str, ...]


def merge(base: Mapping[str, str], theirs: Mapping[str, str], mine: Mapping[str, str]) -> Merged:
    """What the second of two editors saves: sections that only one of them touched go together by themselves."""
    sections, conflicts = {}, []
    for slug in EMPTY:
        was, other, own = (text.get(slug, "") for text in (base, theirs, mine))
        sections[slug] = other if own == was else own
        if own not in (was, other) and other != was:
            conflicts.append(slug)
    return Merged(sections, tuple(conflicts))


def tidy(text: str) -> str:
    """As it is kept: the line ends of a form become those of a file."""
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "").strip("\n")[:TEXT_MAX]
