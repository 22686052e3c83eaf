"""The tests that take one fact away find the facts by their annotation, `Known[…]` as text. One that were evaluated would be passed over."""

import sys
from dataclasses import fields, is_dataclass
from typing import get_args

import workflows.situations  # noqa: F401  imports whatever reads facts
from workflows.facts import DiskFacts, NodeFacts, PoolFacts, Unknown, VdevFacts
from workflows.tests.blind import may_be_unknown


def kinds() -> set[type]:
    found = (value for name, module in sys.modules.items() if name.startswith("workflows.facts") for value in vars(module).values())
    return {value for value in found if isinstance(value, type) and is_dataclass(value)}


def test_no_fact_that_may_be_unknown_is_passed_over():
    evaluated = {
        f"{kind.__qualname__}.{field.name}"
        for kind in kinds()
        for field in fields(kind)
        if not isinstance(field.type, str) and Unknown in get_args(field.type)
    }
    assert not evaluated, "Their module needs `from __future__ import annotations`."
    assert all(may_be_unknown(kind) for kind in (NodeFacts, PoolFacts, DiskFacts, VdevFacts))
