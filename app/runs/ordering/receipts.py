"""What a receipt must look like, and what of it becomes evidence."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from agents.portal.wire import canonical, sha256_hex
from app.fleet.ingest import intake
from app.ledger import services as ledger
from app.ledger.forms import plain

SAID_CHARS_MAX = 64 * 1024  # of each stream; an agent sends no more
OUTCOMES = {"succeeded": "SUCCEEDED", "failed": "FAILED", "refused": "REFUSED", "unknown": "UNKNOWN"}
PROBES = ("did", "did_not", "cannot_tell")


class BadReceipt(ValueError):
    """The text is no receipt of this order."""


@dataclass(frozen=True)
class Receipt:
    """A receipt that has been read. `shown` is what pages show: all but the bodies of the captures."""

    raw: bytes
    digest: str
    order_digest: str
    outcome: str
    reason: str
    argv: list[str]
    exit_code: str
    said: str  # what the command printed
    probe: str
    result: dict[str, Any] | None
    captures: object
    bodies: object
    shown: dict[str, Any]

    def status(self, effect: str) -> str:
        """What the order becomes. A probe that cannot vouch for a failure makes it unknown; a question has no unknown."""
        if effect == "pure" and self.outcome == "unknown":
            return "FAILED"
        if effect != "pure" and self.outcome == "failed" and self.probe in ("did", "cannot_tell"):
            return "UNKNOWN"
        return OUTCOMES[self.outcome]


def read(order_id: str, said: object) -> Receipt:
    """Raises BadReceipt with the first thing that is wrong."""
    if not isinstance(said, dict):
        raise BadReceipt("The receipt is no JSON object.")
    try:
        raw = canonical(said)
    except (TypeError, ValueError) as error:
        raise BadReceipt(f"The receipt has no canonical form: {error}.") from None
    _need(said.get("order") == order_id, "The receipt is for another order.")
    _need(said.get("outcome") in OUTCOMES, f"The outcome {str(said.get('outcome'))[:40]!r} is none of {', '.join(OUTCOMES)}.")
    result, argv = said.get("result"), said.get("argv") or []
    _need(result is None or isinstance(result, dict), "The result is no JSON object.")
    _need(isinstance(argv, list) and all(isinstance(word, str) for word in argv), "The argv is no list of words.")
    return Receipt(
        raw=raw,
        digest=sha256_hex(raw),
        order_digest=_text(said, "digest"),
        outcome=said["outcome"],
        reason=_text(said, "reason"),
        argv=argv,
        exit_code=_text(said, "exit_code"),
        said="".join(_text(said, stream)[:SAID_CHARS_MAX] for stream in ("stdout", "stderr")),
        probe=_probe(said.get("probe")),
        result=result,
        captures=said.get("captures") or [],
        bodies=said.get("bodies") or {},
        shown=plain({name: value for name, value in said.items() if name != "bodies"}),
    )


def take_captures(node: str, told: Receipt, now: datetime) -> tuple[tuple[str, ...], str]:
    """Feed the captures to the fleet; (their digests, "") or ((), what is wrong with them)."""
    if not told.captures:
        return (), ""
    try:
        missing = intake.merge(node, told.captures, told.bodies, now)
    except intake.BadReport as bad:
        return (), str(bad)
    if missing:
        return (), f"{len(missing)} captures of the receipt came without their text."
    return tuple(sorted({capture["digest"] for capture in told.captures})), ""


def keep_captures(told: Receipt) -> tuple[str, ...]:
    """Keep what an archive answers with, and give the digests. The fleet has it already, as old as the archive is: read anew it is not newer."""
    return tuple(ledger.keep_all((canonical(body) for body in told.bodies.values()), "application/json")) if told.bodies else ()


def _probe(said: object) -> str:
    if said is None:
        return ""
    _need(isinstance(said, dict) and said.get("result") in PROBES, "The probe is none we know.")
    return said["result"]


def _text(said: dict, name: str) -> str:
    value = said.get(name)
    _need(value is None or isinstance(value, str), f"{name} is not text.")
    return value or ""


def _need(fact: bool, otherwise: str) -> None:
    if not fact:
        raise BadReceipt(otherwise)
