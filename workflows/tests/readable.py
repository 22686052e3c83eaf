"""What a sentence must be that somebody reads at 3 a.m."""

import re

# A value of our own that slipped into a sentence.
_LEAKED = re.compile(r"Unknown\(|\bNone\b|\bTrue\b|\bFalse\b|\bnan\b|<[a-z_.]+ object|Traceback|dict_|frozenset\(|tuple\(")


def faults(sentence: str) -> tuple[str, ...]:
    """What is wrong with it; empty when it can be shown."""
    found = []
    if not sentence or not sentence.strip():
        return ("says nothing",)
    if not sentence.endswith((".", "…")):
        found.append("does not end")
    if not (sentence[0].isupper() or sentence[0].isdigit() or not sentence[0].isalpha() or "_" in sentence.split()[0]):
        found.append("begins in the middle" if not re.match(r"[a-z][\w./:-]*[\d/._:-]", sentence) else "")
    if _LEAKED.search(sentence):
        found.append(f"shows a value of ours: {_LEAKED.search(sentence)[0]}")
    if re.search(r"\b[Pp]lease\b|\bError:|^error:|!\s*$", sentence):
        found.append("pleads or shouts")
    return tuple(filter(None, found))


def assert_readable(sentence: str) -> None:
    assert not faults(sentence), f"{sentence!r}: {', '.join(faults(sentence))}"
