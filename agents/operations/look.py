"""Look again: ask some sources now and hand over what they say."""

from __future__ import annotations

from collections.abc import Mapping

from agents.collectors import COLLECTORS
from agents.host.host import Host
from agents.operations.base import Answer, check_names

NAME = "look"
EFFECT = "pure"
DESTRUCTIVE = False
PARAMS = ("sources",)


def check(params: Mapping[str, str]) -> str:
    bad = check_names(params, PARAMS)
    if bad:
        return bad
    for source in params["sources"].split(","):
        if source not in COLLECTORS:
            return f"{source!r} is no source; there are {', '.join(sorted(COLLECTORS))}."
    return ""


def argv(params: Mapping[str, str]) -> tuple[str, ...]:
    return ()  # every source has its own fixed argv


def run(host: Host, params: Mapping[str, str]) -> Answer:
    captures = []
    for source in params["sources"].split(","):
        captures.extend(COLLECTORS[source].collect(host))
    return Answer({"sources": params["sources"]}, tuple(captures))
