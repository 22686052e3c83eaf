"""Every operation: what it is, and the command it builds from good parameters and from ones that were tampered with."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

from agents.operations import OPERATIONS
from agents.operations.base import good_ends, needs_approval
from agents.tests.test_operations import GOOD
from tests.frozen.record import Record, Texts

GROUP = "operations"
CHOICES = {  # a parameter that selects, and every value it may have
    "force": ("yes", "no"),
    "light": ("on", "off"),
    "mode": ("EN_BMS", "WCE"),
    "platform": ("linux", "freebsd"),
}
HOSTILE = (
    *("", " ", "*", "-f", "-F", "--force", "sda", "/dev/sda", "6:0:89:0", "a b", "$(reboot)", "a;b", "..", "../../etc", "a\0b", "a\nb"),
    *("naa:", "0", "-1", "1" * 40, "²", "18446744073709551616"),
)


def record() -> tuple[Record, Texts]:
    return {GROUP: {name: dict(_of(module, GOOD[name])) for name, module in OPERATIONS.items()}}, {}


def _of(module: Any, good: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    yield "effect", f"{module.EFFECT}{', destructive' if module.DESTRUCTIVE else ''}"
    yield "approval", str(needs_approval(module.EFFECT, module.DESTRUCTIVE))
    yield "parameters", " ".join(sorted(module.PARAMS))
    yield "facts", " ".join(sorted(getattr(module, "FACTS", ())))
    yield "seconds", str(getattr(module, "TIMEOUT_SECONDS", ""))
    yield "good exit codes", " ".join(map(str, good_ends(module)))
    for chosen in _choices(good):
        yield f"argv {_named(chosen)}", _argv(module, {**good, **chosen})
    for name in sorted(good):
        for value in HOSTILE:
            yield f"argv {_named({name: value})}", _argv(module, {**good, name: value})


def _choices(good: Mapping[str, str]) -> Iterator[dict[str, str]]:
    names = [name for name in sorted(CHOICES) if name in good]
    for values in product(*(CHOICES[name] for name in names)):
        yield dict(zip(names, values, strict=True))


def _named(chosen: Mapping[str, str]) -> str:
    return ", ".join(f"{name}: {json.dumps(value)}" for name, value in chosen.items()) or "as it is"


def _argv(module: Any, params: dict[str, str]) -> str:
    return "refused" if module.check(params) else json.dumps(list(module.argv(params)))
