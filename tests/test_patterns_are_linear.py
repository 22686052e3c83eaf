"""No pattern of the product can be made to work longer than in proportion to its text: what it reads comes from anybody.

Each is fed what it likes: what leads up to one of its repetitions, then that repetition's own characters many times, then a character that
lets it fail. Four times the text may cost four times the work; where it costs sixteen times, the pattern is quadratic.
"""

from __future__ import annotations

import ast
import functools
import importlib
import pkgutil
import re
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from re import _constants as constants  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any, TypeGuard

import pytest

import agents
import app
import cli
import confined
import launcher
import workflows

FLOORS = (agents, app, cli, confined, launcher, workflows)
LENGTH = 1000
GROWTH_MAX = 8
TOO_SHORT_SECONDS = 0.003  # at four times the length: what costs less tells nothing of its growth, and a quadratic pattern costs more
STOP_SECONDS = 0.25
TRIES = 2
ENDS = ("\x00", "\n\x00")
CANDIDATES = "a0 \t:-.,;/_@A(\"'<>|#=[]*\n\x1b\r\\`+%~&"
REPEATS = (constants.MAX_REPEAT, constants.MIN_REPEAT)


METHODS = {"search": "search|sub|subn|findall|finditer|split", "match": "match", "fullmatch": "fullmatch"}


def modules() -> Iterator[str]:
    """Every module of the product."""
    for floor in FLOORS:
        for found in pkgutil.walk_packages(floor.__path__, floor.__name__ + "."):
            if not (".tests" in found.name or ".migrations" in found.name or found.name.endswith(("__main__", ".conftest"))):
                yield found.name


def compiled(name: str) -> Iterator[tuple[str, re.Pattern[str], tuple[str, ...]]]:
    """Every pattern of a module, by its name, and how it is used: where that cannot be told, in each way that begins at a place."""
    module = importlib.import_module(name)
    source = Path(str(module.__file__)).read_text()
    named = set()
    for word, value in vars(module).items():
        for label, pattern in _patterns(word, value):
            named.add(pattern.pattern)
            used = [way for way, names in METHODS.items() if re.search(rf"\b{re.escape(word)}(?:\[\w+\])?\.(?:{names})\b", source)]
            yield f"{name}.{label}", pattern, tuple(used) or ("match", "fullmatch")
    if "re." in source:
        for line, pattern, ways in _written_in_calls(source, vars(module)):
            if pattern.pattern not in named:
                yield f"{name}:{line}", pattern, ways


def _written_in_calls(source: str, names: dict[str, Any]) -> Iterator[tuple[int, re.Pattern[str], tuple[str, ...]]]:
    """The patterns that stand in a call of `re`: re.sub("...", ...). What only a function's own variables make up is left out."""
    for call, method in _calls(ast.parse(source)):
        text = _value(call.args[0], names)
        if text is not None:
            ways = tuple(way for way, listed in METHODS.items() if method in listed.split("|"))
            yield call.lineno, re.compile(text, _flags(call, names)), ways or ("match", "fullmatch")


def _calls(tree: ast.AST) -> Iterator[tuple[ast.Call, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and node.args and _is_of_re(node.func) and node.func.attr != "escape":
            yield node, node.func.attr


def _is_of_re(node: ast.expr) -> TypeGuard[ast.Attribute]:
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "re"


def _value(wanted: ast.expr, names: dict[str, Any]) -> str | None:
    """The pattern that an expression makes; None where it needs a function's own variables."""
    try:
        value = eval(compile(ast.Expression(wanted), "pattern", "eval"), dict(names))  # noqa: S307 (our own source)
    except NameError:
        return None
    return value if isinstance(value, str) else getattr(value, "pattern", None)


def _flags(call: ast.Call, names: dict[str, Any]) -> int:
    """The flags of a call: the only argument that is one of `re`'s own."""
    written = [*call.args[1:], *(word.value for word in call.keywords if word.arg == "flags")]
    return next((int(eval(compile(ast.Expression(each), "flags", "eval"), dict(names))) for each in written if _is_flag(each)), 0)  # noqa: S307


def _is_flag(written: ast.expr) -> bool:
    inside = [node for node in ast.walk(written) if isinstance(node, ast.Attribute)]
    return bool(inside) and all(_is_of_re(node) and node.attr.isupper() for node in inside)


def _patterns(name: str, value: Any) -> Iterator[tuple[str, re.Pattern[str]]]:
    if isinstance(value, re.Pattern) and isinstance(value.pattern, str):
        yield name, value
    elif isinstance(value, tuple | list | frozenset):
        for place, each in enumerate(value):
            yield from _patterns(f"{name}[{place}]", each)
    elif isinstance(value, dict):
        for key, each in value.items():
            yield from _patterns(f"{name}[{key!r}]", each)


def sample(nodes: Any) -> str:
    """A short text that the sequence takes."""
    return "".join(_sample(op, argument) for op, argument in nodes)


def _sample(op: Any, argument: Any) -> str:
    if op is constants.LITERAL:
        return chr(argument)
    if op is constants.IN or op is constants.NOT_LITERAL or op is constants.ANY:
        return _characters(op, argument)[:1]
    if op in REPEATS:
        return sample(argument[2]) * max(argument[0], 0)
    if op is constants.SUBPATTERN:
        return sample(argument[3])
    if op is constants.BRANCH:
        return sample(argument[1][0])
    return ""


def _characters(op: Any, argument: Any) -> str:
    """Those of the candidates that one element takes."""
    if op is constants.LITERAL:
        return chr(argument)
    if op is constants.NOT_LITERAL:
        return "".join(c for c in CANDIDATES if ord(c) != argument)
    if op is constants.ANY:
        return CANDIDATES.replace("\n", "")
    if op is constants.IN:
        tree = parser.SubPattern(parser.State(), [(op, argument)])
        return "".join(c for c in CANDIDATES if _takes(tree, c)) or _first_of_ranges(argument)
    return ""


def _takes(tree: Any, character: str) -> bool:
    negated = found = False
    for op, value in tree[0][1]:
        if op is constants.NEGATE:
            negated = True
        elif op is constants.LITERAL:
            found |= ord(character) == value
        elif op is constants.RANGE:
            found |= value[0] <= ord(character) <= value[1]
        elif op is constants.CATEGORY:
            found |= re.match(_CATEGORIES[str(value)], character) is not None
    return found != negated


_CATEGORIES = {
    "CATEGORY_DIGIT": r"\d",
    "CATEGORY_NOT_DIGIT": r"\D",
    "CATEGORY_SPACE": r"\s",
    "CATEGORY_NOT_SPACE": r"\S",
    "CATEGORY_WORD": r"\w",
    "CATEGORY_NOT_WORD": r"\W",
}


def _first_of_ranges(argument: Any) -> str:
    return next(
        (chr(value if op is constants.LITERAL else value[0]) for op, value in argument if op in (constants.LITERAL, constants.RANGE)), ""
    )


def pumps(nodes: Any, before: str = "", times: int = 1) -> Iterator[tuple[str, str]]:
    """What leads up to each repetition that has no end to speak of, and what it can take again and again.

    One within another has none where both together take a hundred characters: `(?:a{1,60} ?){1,20}` has as many ways as `(?:a+ ?)+`.
    """
    for op, argument in nodes:
        if op in REPEATS:
            within = times * int(argument[1])
            if within >= 100:
                inner = list(argument[2])
                if len(inner) == 1 and inner[0][0] in (constants.IN, constants.ANY, constants.NOT_LITERAL, constants.LITERAL):
                    yield from ((before, c) for c in _characters(*inner[0])[:6])
                else:
                    yield before, sample(inner)
            yield from pumps(argument[2], before, within)
        elif op is constants.SUBPATTERN:
            yield from pumps(argument[3], before, times)
        elif op is constants.BRANCH:
            for branch in argument[1]:
                yield from pumps(branch, before, times)
        before += _sample(op, argument)


class _TooLong(Exception):
    pass


def _stop(*_: object) -> None:
    raise _TooLong


def seconds(call: Callable[[str], object], text: str) -> float:
    """The shortest of some tries, in seconds of the processor."""
    best = STOP_SECONDS
    for _ in range(TRIES):
        before = time.thread_time()
        signal.setitimer(signal.ITIMER_VIRTUAL, STOP_SECONDS)
        try:
            call(text)
        except _TooLong:
            return STOP_SECONDS
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        best = min(best, time.thread_time() - before)
        if best < TOO_SHORT_SECONDS / 4:
            break
    return best


@functools.cache
def worst(pattern: re.Pattern[str], ways: tuple[str, ...]) -> str:
    """The text, in short, on which the pattern is worse than linear; "" where none is found."""
    calls = [getattr(pattern, way) for way in ways]
    texts = dict.fromkeys(pumps(parser.parse(pattern.pattern, pattern.flags & ~re.UNICODE)))
    for before, again in texts:
        if not again:
            continue
        for end in ENDS:
            for call in calls:
                if _growth(call, before, again, end) and (why := _growth(call, before, again, end)):
                    return why
    return ""


def _growth(call: Callable[[str], object], before: str, again: str, end: str) -> str:
    """How much longer four times the text takes; "" where that is linear. A machine with other work may be late once, a pattern is each time."""
    long = seconds(call, before + again * (4 * LENGTH) + end)
    if long < TOO_SHORT_SECONDS:
        return ""
    short = seconds(call, before + again * LENGTH + end)
    if long < STOP_SECONDS and long / max(short, 1e-9) < GROWTH_MAX:
        return ""
    return f"{call.__name__}({before!r} + {again!r} * n + {end!r}): {short:.4f} s, four times as much {long:.4f} s"


@pytest.fixture
def _limited():
    before = signal.signal(signal.SIGVTALRM, _stop)
    yield
    signal.signal(signal.SIGVTALRM, before)


@pytest.mark.usefixtures("_limited")
def test_every_pattern_is_linear():
    """In one test, since only the modules themselves know their patterns: to name each would load them whenever tests are collected."""
    patterns = {name: (pattern, ways) for module in modules() for name, pattern, ways in compiled(module)}
    assert len(patterns) > 400
    assert any(name.startswith("workflows.triage.unwrap.") for name in patterns)
    found = {name: worst(*pattern) for name, pattern in patterns.items()}
    assert not {name: why for name, why in found.items() if why}


@pytest.mark.usefixtures("_limited")
@pytest.mark.parametrize("bad", [r"(?:a+)+b", r"\s*,?\s*$", r"(\w+)\s*\w+\s*=", r"\r+\n", r"(?:[a-z]{1,60} ?){1,20}b"])
def test_a_bad_pattern_is_found(bad):
    assert worst(re.compile(bad), ("search",))


@pytest.mark.usefixtures("_limited")
@pytest.mark.parametrize("good", [r"> ?(?:> ?)*", r"[a-z]+:[0-9]+", r"\r(?=\n)", r"(?:\S{1,20} ){1,4}x"])
def test_a_good_pattern_is_none(good):
    assert not worst(re.compile(good), ("match",))
