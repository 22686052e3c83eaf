"""Texts as a torn pipe, a sick tool or a careless paste leaves them."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

_STRANGE = "0123456789:-\t \n'\"[]{}Kk.²\u2028\x00é"


def mangled(texts: Sequence[str], count: int, seed: int = 1) -> Iterator[str]:
    """`count` texts, each some genuine one with one to four things wrong. The same for the same seed."""
    rng = random.Random(seed)
    for _ in range(count):
        text = rng.choice(texts)
        for _ in range(rng.randint(1, 4)):
            text = rng.choice((_cut, _replace, _insert, _drop_line, _repeat_line, _swap_lines, _indent))(text, rng)
        yield text


def _cut(text: str, rng: random.Random) -> str:
    return text[: rng.randint(0, len(text))]


def _replace(text: str, rng: random.Random) -> str:
    at = rng.randint(0, len(text))
    return text[:at] + rng.choice(_STRANGE) + text[at + 1 :]


def _insert(text: str, rng: random.Random) -> str:
    at = rng.randint(0, len(text))
    return text[:at] + rng.choice(_STRANGE) * rng.choice((1, 1, 2, 30)) + text[at:]


def _drop_line(text: str, rng: random.Random) -> str:
    lines = text.split("\n")
    del lines[rng.randrange(len(lines))]
    return "\n".join(lines)


def _repeat_line(text: str, rng: random.Random) -> str:
    lines = text.split("\n")
    lines.insert(rng.randrange(len(lines)), rng.choice(lines))
    return "\n".join(lines)


def _swap_lines(text: str, rng: random.Random) -> str:
    lines = text.split("\n")
    a, b = rng.randrange(len(lines)), rng.randrange(len(lines))
    lines[a], lines[b] = lines[b], lines[a]
    return "\n".join(lines)


def _indent(text: str, rng: random.Random) -> str:
    lines = text.split("\n")
    at = rng.randrange(len(lines))
    lines[at] = lines[at][1:] if rng.random() < 0.5 else " " * rng.choice((1, 2, 4)) + lines[at]
    return "\n".join(lines)
