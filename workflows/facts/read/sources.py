"""What the sources of one node said, parsed; or why there is nothing to read.

Most texts repeat from report to report, so a parsed text is remembered: a full node costs its changed texts only.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, MutableMapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Protocol, TypeVar

from agents.collectors import COLLECTORS
from agents.collectors.base import Capture, Reading, Unparsed, left_asleep
from agents.collectors.zpool_status import Pool
from agents.portal.wire import canonical
from workflows.facts import source_names
from workflows.facts.unknown import Known, Unknown, known

TEXTS_REMEMBERED = 16384  # about a hundred full nodes
AS_IT_IS = frozenset(("agent",))  # what an agent reports on itself is for people; of it only its policy is a fact

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
Asked = tuple[str, str]  # ("read", "smart/sda"), ("keys", "smart"), ("earlier", "sas_phys")
Before = tuple[Mapping[str, Any], float]  # a body, and how many seconds before what the same place says now
NO_BEFORE: Mapping[str, Before] = MappingProxyType({})
Memory = MutableMapping[str, tuple[Any, Mapping[Asked, object]]]  # name -> (value, what it was made from)


class Source(Protocol[T_co]):
    """A collector's module: what it is called, and what its parser makes of a text."""

    NAME: str

    def parse(self, text: str, /) -> T_co | Unparsed: ...


class Sources:
    """The captures of one node by "source" or "source/key"; each is a `Capture` or the body of one."""

    def __init__(
        self,
        captures: Mapping[str, Capture | Mapping[str, Any]],
        earlier: Mapping[str, Before] = NO_BEFORE,
        digests: Mapping[str, str] | None = None,
        memory: Memory | None = None,
        lately: Mapping[str, Before] = NO_BEFORE,
    ):
        """`earlier` holds what some captures said before, with how many seconds before, and `lately` what they said some minutes ago; `digests` where they
        are known already.

        `memory` is what `once` worked out for the same node before; it needs the digests.
        """
        self._bodies = {where: c.body() if isinstance(c, Capture) else c for where, c in captures.items()}
        self._earlier, self._lately, self._digests = earlier, lately, digests
        self._memory = memory if digests is not None else None
        self._keyed: dict[str, tuple[str, ...]] = {}
        self._noting: list[dict[Asked, object]] = []

    def once(self, name: str, work: Callable[[], T]) -> T:
        """What `work` gives; or what it gave last time, when all that it read then says the same now.

        `work` must get everything it depends on from these sources, and from `once`, itself.
        """
        if self._memory is None:
            return work()
        remembered = self._memory.get(name)
        if remembered is None or any(self._stamp(asked) != stamp for asked, stamp in remembered[1].items()):
            self._noting.append({})
            try:
                made = work()
            finally:
                stamps = self._noting.pop()
            remembered = self._memory[name] = (made, stamps)
        if self._noting:
            self._noting[-1].update(remembered[1])
        value: T = remembered[0]
        return value

    def _note(self, how: str, what: str) -> None:
        if self._noting:
            self._noting[-1][how, what] = self._stamp((how, what))

    def _stamp(self, asked: Asked) -> object:
        """Equal for as long as the question has the same answer."""
        how, what = asked
        if how == "read" and self._digests is not None:
            return self._digests.get(what)
        if how == "keys":
            return self._keys(what)
        return object()  # what was said before moves with time

    def digests(self) -> dict[str, str]:
        if self._digests is not None:
            return dict(self._digests)
        return {where: digest_of(body) for where, body in self._bodies.items()}

    def failures(self) -> dict[str, str]:
        """Every source that gave nothing we can use although it is there, and why."""
        why = {where: self._at(where) for where, body in self._bodies.items() if body["outcome"] != "nothing"}
        return {where: value.reason for where, value in why.items() if not known(value)}

    def not_understood(self) -> dict[str, Unparsed]:
        """Every text that its parser refused as a whole, with the parser's own reason and line.

        Not one whose every line was understood, and that only has rounded numbers or was asked in a form that shows less.
        """
        texts = {where: body["text"] for where, body in self._bodies.items() if body["outcome"] == "data"}
        parsed = {where: _parsed(where.partition("/")[0], text) for where, text in texts.items()}
        return {where: value for where, value in parsed.items() if isinstance(value, Unparsed) and not _is_shorter(where, texts[where])}

    def absent(self) -> dict[str, str]:
        """Every source that this node has not, and why; one that was not asked so that no disk wakes is not among them."""
        nothing = {where: body["reason"] for where, body in self._bodies.items() if body["outcome"] == "nothing"}
        return {where: why or "There is no such thing on this node." for where, why in nothing.items() if not left_asleep("nothing", why)}

    def left_asleep(self) -> frozenset[str]:
        """Every source that was not asked so that no disk wakes."""
        return frozenset(where for where, body in self._bodies.items() if left_asleep(body["outcome"], body["reason"]))

    def has(self, where: str) -> bool:
        self._note("read", where)
        return where in self._bodies

    def keys(self, source: str) -> tuple[str, ...]:
        """The keys under which a source was collected: "sda1" of "zdb_label/sda1"."""
        self._note("keys", source)
        return self._keys(source)

    def _keys(self, source: str) -> tuple[str, ...]:
        if source not in self._keyed:
            self._keyed[source] = tuple(where[len(source) + 1 :] for where in self._bodies if where.startswith(f"{source}/"))
        return self._keyed[source]

    def read(self, source: Source[T], key: str = "", if_nothing: T | None = None) -> Known[T]:
        """The parsed value. `if_nothing` is the answer when the node has no such tool or directory; else that is unknown."""
        value: Known[T] = self._at(f"{source.NAME}/{key}" if key else source.NAME, if_nothing)
        return value

    def pools(self, where: str) -> Known[tuple[Pool, ...]]:
        """Of a source that lists imported pools. By its name: mypy 2.4 does not see that a module is a `Source` where its values are nested in themselves."""
        value: Known[tuple[Pool, ...]] = self._at(where)
        return value

    def text(self, where: str) -> Known[str]:
        """Of a source in AS_IT_IS."""
        value: Known[str] = self._at(where)
        return value

    def _at(self, where: str, if_nothing: Any = None) -> Known[Any]:
        self._note("read", where)
        body = self._bodies.get(where)
        if body is None:
            return Unknown(source_names.not_read(where))
        return _value(where, body, if_nothing)

    def reading(self, where: str) -> Known[Reading]:
        """What the text says as far as it could be read, with the lines that were not. Never for a guard."""
        self._note("read", where)
        body = self._bodies.get(where)
        if body is None:
            return Unknown(source_names.not_read(where))
        if body["outcome"] != "data":
            return _value(where, body)
        return _read(where.partition("/")[0], body["text"])

    def doubt(self, where: str) -> str:
        """Why a text that was read may not be relied on: it was pasted and its indentation rebuilt, say. "" where it may."""
        self._note("read", where)
        body = self._bodies.get(where)
        return body["reason"] if body is not None and body["outcome"] == "data" else ""

    def earlier(self, source: Source[T]) -> Known[tuple[T, float]]:
        """What the same source said before, parsed, and how many seconds before what it says now: for what grows.

        The portal keeps earlier texts of sources whose collector has HISTORY_SECONDS, and picks the one about so old.
        """
        return self._before(self._earlier, source.NAME)

    def earlier_pools(self, where: str) -> Known[tuple[tuple[Pool, ...], float]]:
        return self._before(self._earlier, where)

    def lately_pools(self, where: str) -> Known[tuple[tuple[Pool, ...], float]]:
        """The same of some minutes ago, of a source whose collector has LATELY_SECONDS."""
        return self._before(self._lately, where)

    def _before(self, looks: Mapping[str, Before], where: str) -> Known[tuple[Any, float]]:
        self._note("earlier", where)
        if where not in looks:
            return Unknown(f"What {source_names.of(where)} said before is not known yet.")
        body, seconds = looks[where]
        value = _value(where, body)
        return (value, seconds) if known(value) else Unknown(f"At the look before: {value.reason}")


def _value(where: str, body: Mapping[str, Any], if_nothing: Any = None) -> Known[Any]:
    if body["outcome"] == "nothing":
        why = body["reason"] or "there is no such thing on this node"
        return Unknown(f"{source_names.not_read(where)[:-1]}: {why}.") if if_nothing is None else if_nothing
    if body["outcome"] != "data":
        return Unknown(f"{source_names.not_read(where)[:-1]}: {_why(body)}.")
    value = _parsed(where.partition("/")[0], body["text"])
    if isinstance(value, Unparsed):
        line = f" ({value.line.strip()!r})" if value.line.strip() else ""
        return Unknown(f"What the node's {source_names.of(where)} says was not understood: {value.reason.rstrip('.')}{line}.")
    return value


def _why(body: Mapping[str, Any]) -> str:
    """With the tool's own first words: "exited 1" alone does not help."""
    reason, stderr = body["reason"].rstrip("."), (body.get("stderr") or "").strip().split("\n")[0].rstrip(".")
    return f"{reason}: {stderr}" if stderr and stderr not in reason else reason


@lru_cache(maxsize=TEXTS_REMEMBERED)
def _parsed(source: str, text: str) -> Any:
    if source in AS_IT_IS:
        return text
    collector = COLLECTORS.get(source)
    if hasattr(collector, "read"):
        return _read(source, text).whole
    return Unparsed(f"no source is called {source}") if collector is None else collector.parse(text)


def _is_shorter(where: str, text: str) -> bool:
    source = where.partition("/")[0]
    if not hasattr(COLLECTORS.get(source), "read"):
        return False
    unread = _read(source, text).every_unread
    return bool(unread) and all(line.rounded or line.missing for line in unread)


@lru_cache(maxsize=TEXTS_REMEMBERED)
def _read(source: str, text: str) -> Reading:
    """Of a source whose collector reads row by row."""
    reading: Reading = COLLECTORS[source].read(text)
    return reading


def digest_of(body: Mapping[str, Any]) -> str:
    return hashlib.sha256(canonical(dict(body))).hexdigest()
