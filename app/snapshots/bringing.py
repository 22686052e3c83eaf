"""What was collected on a host without an agent becomes a node of the fleet. It is read in a process with limits, before anything is stored.

A node that has an agent is never overridden. What is kept are the captures and what slotlight-collect wrote; everything else of the archive is
dropped, and the ledger names the archive by its digest.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256

from django.db import transaction
from django.utils import timezone

from app.accounts import rights
from app.accounts.models import User
from app.accounts.rights import OPERATE
from app.core.limits import SNAPSHOT_BYTES_MAX
from app.fleet import triage_process
from app.fleet.ingest import intake
from app.fleet.models import Node
from app.fleet.services import facts_of
from app.ledger import services as ledger
from app.realtime.publish import ring
from app.runs import tasks
from app.runs.ordering import answers_from_recording
from app.snapshots.models import Snapshot
from confined import Stopped
from workflows.facts import known
from workflows.snapshot import forms, reading

AHEAD = timedelta(minutes=5)  # how far a host's clock may be ahead of ours
TOO_BIG = f"This is more than {SNAPSHOT_BYTES_MAX // 1024**2} MiB. Take the outputs of ZFS and disks out of it, and bring those alone."


class NotTaken(Exception):
    """Nothing was stored. The text says why, and what to do."""


class MayNot(NotTaken):
    """This person may not bring that host."""


@dataclass(frozen=True)
class Brought:
    snapshot: Snapshot
    is_new: bool  # else the same archive was brought before


@dataclass(frozen=True)
class Asked:
    """What the person says beside the archive."""

    host: str = ""  # the host it is of; needed where the archive does not name it
    taken_at: datetime | None = None  # needed where nothing in the archive says when it was taken
    anew: bool = False  # the host was installed anew, so that another hostid is right


def bring(data: bytes, user: User, asked: Asked) -> Brought:
    """Raises NotTaken, `triage_process.Busy`, `confined.Stopped`, LedgerDown."""
    if not rights.may_somewhere(user, OPERATE):
        raise MayNot(rights.why_not(user, OPERATE))
    if not data:
        raise NotTaken("The archive is empty. Collect it again.")
    if len(data) > SNAPSHOT_BYTES_MAX:
        raise NotTaken(TOO_BIG)
    digest, now = sha256(data).hexdigest(), timezone.now()
    if (before := Snapshot.objects.select_related("node").filter(digest=digest).first()) is not None:
        _refuse_if_not_allowed(user, before.node.name)
        return Brought(before, False)
    ledger.refuse_if_broken()
    found = _read(data)
    name = _name(found, asked)
    _refuse_if_not_allowed(user, name)
    taken_at = _taken_at(found, asked, now)
    with transaction.atomic():
        node = _node(name, found, asked, taken_at)
        kept = _keep(node, found, digest, user, taken_at, now)
        _record(kept, user, found)
        tasks.soon(tasks.facts_arrived, name)
    for topic in ("fleet", f"node:{name}"):
        ring(topic)
    answers_from_recording.answer_open(name)
    return Brought(kept, True)


def _read(data: bytes) -> reading.Snapshot:
    try:
        found = triage_process.run(reading.safely, [("archive", data)])
    except Stopped as stopped:
        if stopped.why == "crash":
            raise
        raise NotTaken(f"{stopped} Take the outputs of ZFS and disks out of the archive, and bring those alone.") from None
    if isinstance(found, str):
        raise NotTaken(found)
    return found


def _refuse_if_not_allowed(user: User, name: str) -> None:
    if why := rights.why_not(user, OPERATE, name):
        raise MayNot(why)


def _name(found: reading.Snapshot, asked: Asked) -> str:
    own, named = found.host.partition(".")[0], asked.host.strip()
    if own and named and named.partition(".")[0].lower() != own.lower():
        raise NotTaken(f"This is an archive of {found.host[:80]}, and not of {named[:80]}. Bring it as what it is, or the right one.")
    name = own or named.partition(".")[0]
    if not name:
        raise NotTaken(f"Nothing in this file ({found.form}) names the host. Say which one it is of.")
    if reading.HOST_NAME.fullmatch(name) is None:
        raise NotTaken(f"The host calls itself {name[:80]!r}, which is no name of a node: letters, digits, dots, dashes and underscores.")
    standing = Node.objects.filter(name__iexact=name).first()
    return standing.name if standing is not None else name


def _taken_at(found: reading.Snapshot, asked: Asked, now: datetime) -> datetime:
    """By the host's clock, or as the person states where the archive has no time. A person's statement never makes it younger."""
    own = datetime.fromtimestamp(found.taken_at, UTC) if found.taken_at else None
    if own is None and asked.taken_at is None:
        raise NotTaken(
            f"Nothing in this file ({found.form}) shows when it was taken, and its age decides what it may be used for. Give the time."
        )
    at = min(filter(None, (own, asked.taken_at)))
    if at > now + AHEAD:
        raise NotTaken(
            f"It was taken at {at:%Y-%m-%d %H:%M:%S} UTC, which is still to come: the clock of {found.host or 'the host'} is ahead of the portal's,"
            " so its age is not known. Set that clock and collect it again."
        )
    return min(at, now)


def _node(name: str, found: reading.Snapshot, asked: Asked, taken_at: datetime) -> Node:
    """The node it becomes, ours until the transaction ends."""
    _refuse_if_it_has_an_agent(name, found)
    _refuse_if_it_has_another_name(name, found)
    node, is_new = Node.objects.get_or_create(name=name, defaults={"state": Node.State.BROUGHT})
    node = Node.objects.select_for_update(no_key=True).get(pk=node.pk)
    if node.state == Node.State.ENROLLED:
        raise NotTaken(_has_an_agent(node.name))
    if not is_new and node.state == Node.State.BROUGHT and node.last_report_at is not None:
        _refuse_if_older(node, taken_at)
        _refuse_if_another(node, found, asked)
    if node.state != Node.State.BROUGHT:
        node.state = Node.State.BROUGHT
        node.save(update_fields=["state"])
    return node


def _refuse_if_it_has_another_name(name: str, found: reading.Snapshot) -> None:
    """Two nodes of one host would both have its pools imported."""
    there = Node.objects.filter(state=Node.State.BROUGHT).exclude(name=name)
    if found.boot_id and (same := there.filter(boot_id=found.boot_id[:40]).first()) is not None:
        raise NotTaken(
            f"This archive calls its host {name}, and it is of the boot {found.boot_id[:40]}, which was brought as {same.name}: no two hosts have the"
            f" same. If {same.name} is called {name} now, retire {same.name} on the page of what was brought of it, and bring this again."
        )


def _refuse_if_it_has_an_agent(name: str, found: reading.Snapshot) -> None:
    there = Node.objects.filter(state=Node.State.ENROLLED)
    same = there.filter(name=name).first() or (there.filter(boot_id=found.boot_id).first() if found.boot_id else None)
    if same is not None:
        raise NotTaken(_has_an_agent(same.name))


def _has_an_agent(name: str) -> str:
    return (
        f"{name} has an agent, and what that reports is never overridden. Look at the node's page. If its agent does not report any more, start it"
        f" (`systemctl restart slotlight-agent` on {name}); if it is gone for good, an administrator revokes its key on the page of the agent,"
        " and then this can be brought."
    )


def _refuse_if_older(node: Node, taken_at: datetime) -> None:
    if node.last_report_at is not None and taken_at < node.last_report_at:
        raise NotTaken(
            f"What is known of {node.name} was taken at {node.last_report_at:%Y-%m-%d %H:%M:%S} UTC, which is later than this"
            f" ({taken_at:%Y-%m-%d %H:%M:%S}). Collect it again."
        )


def _refuse_if_another(node: Node, found: reading.Snapshot, asked: Asked) -> None:
    facts = facts_of(node)
    hostid = facts.hostid if facts is not None else None
    if asked.anew or hostid is None or not known(hostid) or not found.hostid or hostid == found.hostid:
        return
    raise NotTaken(
        f"{node.name} had the hostid {hostid} when it was brought last, and this archive is of a host with the hostid {found.hostid}: it may be"
        " another host of that name. If the host was installed anew or got another hostid, state that and bring it again."
    )


def _keep(node: Node, found: reading.Snapshot, digest: str, user: User, taken_at: datetime, now: datetime) -> Snapshot:
    try:
        intake.bring(node.name, found.captures, taken_at, found.boot_id[:40], now)
    except intake.BadReport as bad:
        raise NotTaken(f"{bad} Nothing of it was kept.") from None
    lacks = [{"what": one.what, "why": one.why} for one in found.lacks]
    recording = {part: ledger.keep(data, "text/plain") for part, data in sorted(found.recording.items())}
    node.recording = recording
    node.save(update_fields=["recording"])
    return Snapshot.objects.create(
        node=node, digest=digest, form=found.form, taken_at=taken_at, brought_at=now, brought_by=user, hostid=found.hostid[:64],
        boot_id=found.boot_id[:64], holds=list(found.holds), lacks=lacks, others=found.others, recording=recording,
    )  # fmt: skip


def _record(kept: Snapshot, user: User, found: reading.Snapshot) -> None:
    body = {"archive": kept.digest, "form": kept.form, "taken_at": kept.taken_at, "host": found.host, "hostid": kept.hostid}
    body |= {"boot_id": kept.boot_id, "lacks": len(kept.lacks), "dropped": kept.others, "recording": list(kept.recording.values())}
    ledger.record("snapshot.brought", body, user.get_username(), node=kept.node.name)


def retire(node: Node, user: User) -> None:
    """What was brought of it is not shown or asked any more; another archive of the host brings it back. Raises NotTaken."""
    with transaction.atomic():
        here = Node.objects.select_for_update(no_key=True).get(pk=node.pk)
        if here.state != Node.State.BROUGHT:
            raise NotTaken(f"{here.name} was not brought, or was retired already. Nothing was changed.")
        here.state = Node.State.RETIRED
        here.save(update_fields=["state"])
        _close_situations(here)
        ledger.record("snapshot.retired", {"taken_at": here.last_report_at}, user.get_username(), node=here.name)
    for topic in ("fleet", f"node:{here.name}"):
        ring(topic)


def _close_situations(node: Node) -> None:
    node.situations.filter(closed_at__isnull=True).update(closed_at=timezone.now())


def latest(node: Node) -> Snapshot | None:
    return node.snapshots.select_related("brought_by").first()


FORMS: Sequence[str] = (forms.COLLECT, forms.SOS, forms.TRUENAS, forms.PVE, forms.SAVED)
