"""What a receipt must look like, and what of it becomes evidence."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from agents.portal.wire import canonical, sha256_hex
from app.fleet.ingest import intake
from app.ledger import services as ledger
from app.ledger.forms import plain

OUTPUT_CHARS_MAX = 64 * 1024  # of each stream; an agent sends no more
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
    output: str  # what the command printed
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


def read(order_id: str, body: object) -> Receipt:
    """Raises BadReceipt with the first thing that is wrong."""
    if not isinstance(body, dict):
        raise BadReceipt("The receipt is no JSON object.")
    try:
        raw = canonical(body)
    except (TypeError, ValueError) as error:
        raise BadReceipt(f"The receipt has no canonical form: {error}.") from None
    _need(body.get("order") == order_id, "The receipt is for another order.")
    _need(body.get("outcome") in OUTCOMES, f"The outcome {str(body.get('outcome'))[:40]!r} is none of {', '.join(OUTCOMES)}.")
    result, argv = body.get("result"), body.get("argv") or []
    _need(result is None or isinstance(result, dict), "The result is no JSON object.")
    _need(isinstance(argv, list) and all(isinstance(word, str) for word in argv), "The argv is no list of words.")
    return Receipt(
        raw=raw,
        digest=sha256_hex(raw),
        order_digest=_text(body, "digest"),
        outcome=body["outcome"],
        reason=_text(body, "reason"),
        argv=argv,
        exit_code=_text(body, "exit_code"),
        output="".join(_text(body, stream)[:OUTPUT_CHARS_MAX] for stream in ("stdout", "stderr")),
        probe=_probe(body.get("probe")),
        result=result,
        captures=body.get("captures") or [],
        bodies=body.get("bodies") or {},
        shown=plain({name: value for name, value in body.items() if name != "bodies"}),
    )


def take_captures(node: str, receipt: Receipt, now: datetime) -> tuple[tuple[str, ...], str]:
    """Feed the captures to the fleet; (their digests, "") or ((), what is wrong with them)."""
    if not receipt.captures:
        return (), ""
    try:
        missing = intake.merge(node, receipt.captures, receipt.bodies, now)
    except intake.BadReport as bad:
        return (), str(bad)
    if missing:
        return (), f"{len(missing)} captures of the receipt came without their text."
    listed = receipt.captures if isinstance(receipt.captures, list) else []  # a list, or `merge` had raised
    return tuple(sorted({capture["digest"] for capture in listed})), ""


def keep_captures(receipt: Receipt) -> tuple[str, ...]:
    """Keep what an archive answers with, and give the digests. The fleet has it already, as old as the archive is: read anew it is not newer."""
    bodies = receipt.bodies.values() if isinstance(receipt.bodies, dict) else ()
    return tuple(ledger.keep_all(map(canonical, bodies), "application/json"))


def _probe(value: object) -> str:
    if value is None:
        return ""
    result = value.get("result") if isinstance(value, dict) else None
    _need(result in PROBES, "The probe is not a known one.")
    return str(result)


def _text(body: dict[str, Any], name: str) -> str:
    value = body.get(name)
    _need(value is None or isinstance(value, str), f"{name} is not text.")
    return value or ""


def _need(fact: bool, otherwise: str) -> None:
    if not fact:
        raise BadReceipt(otherwise)
