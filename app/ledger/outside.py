"""Checkpoints sent to places outside the portal (a file on another machine, a mailbox, a syslog), so that a ledger that was put back or
written anew shows: what was sent is held against it with `ledger verify --kept` and `verify.py --kept`.

A place is a URL: file:///mnt/worm/checkpoints, syslog://loghost:514 (UDP), smtp://relay/auditor@example.org or smtps://user:word@relay/...
"""

import base64
import os
import smtplib
import socket
from collections.abc import Callable, Iterable
from email.message import EmailMessage
from typing import Any
from urllib.parse import SplitResult, unquote, urlsplit

from django.conf import settings
from django.utils import timezone

from app.ledger import checkpoints, keyring, keys, notes, verify
from app.ledger.models import LedgerCheckpoint, LedgerSent
from app.ledger.services import record
from app.ledger.verify_signatures import signature_verdict

SECONDS = 15
NOT_SENT = "checkpoint.not-sent"


class BadPlace(ValueError):
    """This is no place that a checkpoint can be sent to."""


def send_out() -> dict[str, str]:
    """Send the newest checkpoint to every place; why not, by place, "" where it went. What did not go is recorded."""
    LedgerSent.objects.exclude(place__in=[named(place) for place in settings.CHECKPOINTS_TO]).delete()
    newest = checkpoints.newest()
    if newest is None or not settings.CHECKPOINTS_TO:
        return {}
    sent = {named(place): _sent(place, newest) for place in settings.CHECKPOINTS_TO}
    for place, why in sent.items():
        _remember(place, newest.size, why)
        if why:
            record(NOT_SENT, {"size": newest.size, "place": place, "why": why}, "system")
    return sent


def _remember(place: str, size: int, why: str) -> None:
    """For the alarm, which stands until a checkpoint goes there again or the place is named no more."""
    now = timezone.now()
    row, _made = LedgerSent.objects.get_or_create(pk=place)
    row.why, row.failing_since = why, (row.failing_since or now) if why else None
    if not why:
        row.size, row.sent_at = size, now
    row.save()


def _sent(place: str, checkpoint: LedgerCheckpoint) -> str:
    try:
        _sender(place)(urlsplit(place), checkpoint)
    except (OSError, smtplib.SMTPException, BadPlace) as error:
        return f"{type(error).__name__}: {error}"
    return ""


def named(place: str) -> str:
    """The place without its password."""
    split = urlsplit(place)
    return split._replace(netloc=split.netloc.rpartition("@")[2]).geturl()


def _sender(place: str) -> Callable[[SplitResult, LedgerCheckpoint], None]:
    split = urlsplit(place)
    whole = {
        "file": split.path.startswith("/"),
        "syslog": bool(split.hostname),
        "smtp": bool(split.hostname and "@" in split.path),
        "smtps": bool(split.hostname and "@" in split.path),
    }
    if not whole.get(split.scheme):
        raise BadPlace(f"{named(place)} is none of file:///path, syslog://host:port, smtp://relay/address and smtps://relay/address.")
    return {"file": _to_file, "syslog": _to_syslog}.get(split.scheme, _to_mailbox)


def in_one_line(checkpoint: LedgerCheckpoint) -> str:
    """For logs that know lines only; `verify.read_kept` finds it there."""
    return f"{verify.ONE_LINE}{base64.b64encode(checkpoint.note.encode()).decode()} over {checkpoint.size} events"


def _to_file(place: SplitResult, checkpoint: LedgerCheckpoint) -> None:
    """Added at the end and never opened for reading, so it may be a file that can only be added to."""
    opened = os.open(unquote(place.path), os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    with os.fdopen(opened, "ab") as file:
        file.write(f"{checkpoint.at}\n\n{checkpoint.note}\n".encode())
        file.flush()
        os.fsync(file.fileno())


def _to_syslog(place: SplitResult, checkpoint: LedgerCheckpoint) -> None:
    facility_authpriv_notice = 10 * 8 + 5
    line = f"<{facility_authpriv_notice}>slotlight: {in_one_line(checkpoint)}"
    found = socket.getaddrinfo(place.hostname, place.port or 514, type=socket.SOCK_DGRAM)
    family, kind, protocol, _, address = found[0]
    with socket.socket(family, kind, protocol) as out:
        out.settimeout(SECONDS)
        out.sendto(line.encode(), address)


def _to_mailbox(place: SplitResult, checkpoint: LedgerCheckpoint) -> None:
    letter = EmailMessage()
    letter["To"], letter["From"] = unquote(place.path[1:]), f"slotlight@{socket.getfqdn()}"
    letter["Subject"] = f"Checkpoint of {keys.origin()} over {checkpoint.size} events"
    letter.set_content(f"Keep this mail: it is held against the ledger with --kept.\n\n{checkpoint.note}\n", cte="8bit")
    kind = smtplib.SMTP_SSL if place.scheme == "smtps" else smtplib.SMTP
    with kind(place.hostname or "", place.port or 0, timeout=SECONDS) as relay:  # `_sender` refuses a place without a host
        if place.username:
            relay.login(unquote(place.username), unquote(place.password or ""))
        relay.send_message(letter)


class Kept:
    """Checkpoints that were kept elsewhere, held against the ledger while it is walked."""

    def __init__(self, found: Iterable[dict[str, Any]] = ()) -> None:
        self._by_size: dict[int, list[dict[str, Any]]] = {}
        self.tampered: list[str] = []
        for note in found:
            self._by_size.setdefault(note["size"], []).append(note)

    def __contains__(self, size: int) -> bool:
        return size in self._by_size

    def at(self, size: int, root: bytes) -> None:
        """The walk has come to the end of this many events."""
        for note in self._by_size.pop(size, ()):
            if note["origin"] != keys.origin() or not self._is_ours(note):
                self.tampered.append(f"The kept checkpoint over {size} events is not signed by this ledger's key as {keys.origin()}.")
            elif note["root"] != root:
                self.tampered.append(
                    f"The first {size} events are not those of the checkpoint that was kept elsewhere: the ledger was written anew since."
                )

    def end(self, size: int) -> None:
        if self._by_size:
            self.tampered.append(
                f"A checkpoint over {max(self._by_size)} events was kept elsewhere, and the ledger ends at event {size}:"
                " an older database was put back, or its end was cut off."
            )

    def _is_ours(self, note: dict[str, Any]) -> bool:
        public = keyring.public_at(note["size"], checkpoints.signing_key().public)
        mine = [raw[4:] for name, raw in note["signatures"] if (name, raw[:4]) == (keys.origin(), notes.key_id(keys.origin(), public))]
        return bool(mine) and signature_verdict("ed25519", public, mine[0], note["text"]) == ""
