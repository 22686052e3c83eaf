"""One harness over every parser: genuine texts, hurt in every way a pipe, a sick tool or a careless paste can hurt them.

For each hurt text a parser must return a value or `Unparsed`, soon, and raise nothing. For three kinds of hurt it is also checked that
no number comes out that was never printed:

    torn       the text ends anywhere. A number of which the end is missing must be refused, not read short.
    rounded    a number became "1.2K", as a tool prints it without `-p`. It must be refused, not read as 1.
    enormous   a number grew beyond 64 bits. It must be refused, or read whole.

A number that comes out is judged against all numbers that come out of the unhurt text, and those the hurt text shows whole.
"""

from __future__ import annotations

import dataclasses
import random
import re
import time
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from types import ModuleType

from agents.collectors import COLLECTORS
from agents.collectors.base import Unparsed
from agents.tests import lab_nodes
from agents.tests.mangle import mangled
from agents.tests.scenarios import STEPS, step
from twin.captured_host import CapturedHost

FOLDER = Path(__file__).parent / "captures"
TEXTS_MAX = 40  # of one source; the shortest are the ones where a hurt hits most often
CHARACTERS_MAX = 12_000
SECONDS_MAX = 2.0  # for one text, on a machine that does something else too
NUMBER = re.compile(r"(?<![\w.])[0-9]{2,20}(?![\w.])")
JUNK = ("\x00", "\ufeff", "\u2028", "²", "٣", "é", "\x1b[31m", "\r", "\\xff", "0x", "-", "+1", "1e9", "NaN", "9" * 40, "\t" * 50, "]" * 50)


class WrongNumber(AssertionError):
    """A parser vouched for a number that nobody printed."""


@dataclasses.dataclass
class Tally:
    """What came of the texts of one parser."""

    texts: int = 0
    refused: int = 0
    checked: int = 0  # texts whose numbers were checked
    slowest_seconds: float = 0.0


@lru_cache(maxsize=1)
def genuine() -> dict[str, tuple[str, ...]]:
    """Every source's texts: of each step of each scenario, of the lab's nodes, and what stands in the folder of its name."""
    found: dict[str, set[str]] = {name: set() for name in COLLECTORS}
    for name in STEPS:
        host = CapturedHost(step(name))
        for source, module in COLLECTORS.items():
            found[source] |= {capture.text for capture in module.collect(host) if capture.outcome == "data"}
    for (source, _), body in lab_nodes.everything():
        found[source].add(body["text"])
    for source in COLLECTORS:
        found[source] |= {path.read_text() for path in FOLDER.glob(f"{source}/*.txt")}
    return {source: _shortest(source, texts) for source, texts in found.items()}


def _shortest(source: str, texts: set[str]) -> tuple[str, ...]:
    """Those that say something and are not too long; one long one rather than none."""
    readable = sorted((t for t in texts if t.strip() and not isinstance(COLLECTORS[source].parse(t), Unparsed)), key=lambda t: (len(t), t))
    return tuple([t for t in readable if len(t) <= CHARACTERS_MAX][:TEXTS_MAX] or readable[:1])


def abuse(module: ModuleType, texts: Sequence[str], count: int, seed: int = 1) -> Tally:
    """Let the parser of `module` read `count` hurt texts. Raises whatever it raises, and `WrongNumber`."""
    rng, tally = random.Random(f"{module.NAME} {seed}"), Tally()
    whole = {text: frozenset(numbers(module.parse(text))) for text in texts}
    plain = mangled(texts, count, seed)
    for _ in range(count):
        hurt = rng.choice(HURTS)
        if hurt is None:
            _read(module, _junked(next(plain), rng), tally)
            continue
        text = rng.choice(texts)
        reported = hurt(text, rng)
        value = _read(module, reported, tally)
        tally.checked += 1
        wrong = frozenset(numbers(value)) - whole[text]
        if wrong and (hurt is _torn or wrong - shown(reported)):
            raise WrongNumber(f"{module.NAME} read {sorted(wrong)[:5]} where the text was {hurt.__name__[1:]}: {reported[-300:]!r}")
    return tally


def shown(text: str) -> frozenset[int]:
    """The numbers that stand in a text by themselves."""
    return frozenset(int(found) for found in re.findall(r"(?<![\w.])[0-9]+(?![\w.])", text))


def _read(module: ModuleType, text: str, tally: Tally) -> object:
    begun = time.process_time()
    value = module.parse(text)
    seconds = time.process_time() - begun
    if not isinstance(value, tuple) and not dataclasses.is_dataclass(value):
        raise TypeError(f"{module.NAME} made {type(value).__name__} of {text[:300]!r}")
    if seconds > SECONDS_MAX:
        raise TimeoutError(f"{module.NAME} took {seconds:.1f} s for {len(text)} characters: {text[:300]!r}")
    tally.texts += 1
    tally.refused += isinstance(value, Unparsed)
    tally.slowest_seconds = max(tally.slowest_seconds, seconds)
    return value


def numbers(value: object) -> Iterator[int]:
    """Every whole number anywhere in what a parser made, also one that is kept as text."""
    if isinstance(value, Unparsed):
        return  # its line is quoted, not vouched for
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        for field in dataclasses.fields(value):
            yield from numbers(getattr(value, field.name))
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from numbers(item)
    elif isinstance(value, int) and not isinstance(value, bool):
        yield value
    elif isinstance(value, str) and value.isascii() and value.isdigit():
        yield int(value)


def _torn(text: str, rng: random.Random) -> str:
    return text[: rng.randint(0, len(text))]


def _rounded(text: str, rng: random.Random) -> str:
    return _changed(text, rng, lambda digits: f"{digits[0]}.{digits[1:3]}{rng.choice('KMGTP')}")


def _enormous(text: str, rng: random.Random) -> str:
    return _changed(text, rng, lambda digits: digits * 30)


def _changed(text: str, rng: random.Random, change: Callable[[str], str]) -> str:
    found = list(NUMBER.finditer(text))
    if not found:
        return text
    one = rng.choice(found)
    return text[: one.start()] + change(one.group()) + text[one.end() :]


def _junked(text: str, rng: random.Random) -> str:
    if rng.random() < 0.5:
        return text
    at = rng.randint(0, len(text))
    return text[:at] + rng.choice(JUNK) + text[at:]


CHECKED = (_torn, _rounded, _enormous)
HURTS = (*CHECKED, None, None, None)  # None: any hurt, without a check of numbers
