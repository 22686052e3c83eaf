"""What threatens what the whole portal says: the registry of alarms, which the fleet page, notices, /metrics, the API and `slotlight status` read.

Each kind is a question about rows that are kept anyway, so an alarm stands for as long as what it reports is so, and ends by itself.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any

from django.db.models import Q, QuerySet, Value
from django.urls import reverse
from django.utils import timezone

from agents.trust.log_witness import ACCEPT
from app import readiness
from app.accounts import seals
from app.accounts.models import Refusal
from app.core.compiled_queries import ModelsWrittenOnce, WrittenOnce
from app.fleet.models import Node
from app.ledger.models import LedgerSent
from app.nodes import vault
from app.nodes.keys import milliseconds
from app.nodes.models import NodeKey
from app.notices.models import Happening

NEVER_SECONDS = 300  # an agent reports within seconds of its enrolment
NAMES_SHOWN = 5
HUNG_SHOWN = timedelta(days=1)  # how long a database that did not answer, and does again, is shown


@dataclass(frozen=True)
class Alarm:
    """One thing that is wrong. `key` is the same for as long as it stands, and when it comes back."""

    kind: str  # a key of KINDS
    key: str
    title: str
    text: str  # what is so
    do: str  # what to do, at the place that can be trusted
    path: str
    since: datetime | None = None
    node: str = ""  # empty: it concerns everybody
    severity: str = "act"


def _doubtful(counter: int, enrolled: datetime) -> QuerySet[NodeKey]:
    """The keys that any alarm may be about: with a counter above this one, or of a node that enrolled before then and never reported."""
    unheard = Q(node__state=Node.State.ENROLLED, node__last_report_at=None, created_at__lte=enrolled)
    doubtful = Q(doubled_at__isnull=False) | Q(jumped_at__isnull=False) | ~Q(held="")
    live = NodeKey.objects.filter(doubtful | unheard | Q(counter__gt=counter), revoked_at=None).exclude(node__state=Node.State.RETIRED)
    return live.select_related("node").order_by("node__name")


def _broken() -> QuerySet[Happening]:
    return Happening.objects.filter(kind="ledger-broken", over=False)


def _hung(since: datetime) -> QuerySet[Happening]:
    return Happening.objects.filter(kind="database-hung", at__gt=since).order_by("-pk")


def _unsent() -> QuerySet[LedgerSent]:
    return LedgerSent.objects.exclude(why="").order_by("place")


def _refused() -> QuerySet[Refusal]:
    return Refusal.objects.all()


@WrittenOnce
def _concerned(counter: int, enrolled: datetime, since: datetime) -> QuerySet[Any]:
    """The names of the tables that an alarm may be about: every look of every page asks, and mostly there is none."""
    rows = {"keys": _doubtful(counter, enrolled), "ledger": _broken(), "hung": _hung(since), "people": _refused(), "sent": _unsent()}
    first, *others = (query.order_by().values_list(Value(name)) for name, query in rows.items())
    return first.union(*others)


_keys, _breaks, _refusals = ModelsWrittenOnce(_doubtful), ModelsWrittenOnce(_broken), ModelsWrittenOnce(_refused)
_not_sent, _outages = ModelsWrittenOnce(_unsent), ModelsWrittenOnce(_hung)


class Sources:
    """What the alarms that stand at a time are made of."""

    def __init__(self, at: datetime) -> None:
        self.at = at
        self._which = _unreachable(at), at - timedelta(seconds=NEVER_SECONDS)

    @cached_property
    def _tables(self) -> set[str]:
        return {name for (name,) in _concerned(*self._which, self.at - HUNG_SHOWN)}

    @cached_property
    def keys(self) -> list[NodeKey]:
        return _keys(*self._which) if "keys" in self._tables else []

    @cached_property
    def broken(self) -> list[Happening]:
        return _breaks() if "ledger" in self._tables else []

    @cached_property
    def hung(self) -> list[Any]:
        return _outages(self.at - HUNG_SHOWN) if "hung" in self._tables else []

    @cached_property
    def refused(self) -> list[Refusal]:
        return _refusals() if "people" in self._tables else []

    @cached_property
    def unsent(self) -> list[LedgerSent]:
        return _not_sent() if "sent" in self._tables else []


def _unreachable(now: datetime) -> int:
    """A counter that no agent can have numbered a request with yet."""
    return milliseconds(now + timedelta(days=1))


def database_hangs(sources: Sources) -> Iterator[Alarm]:
    """Shown without the database: on the page that stands in for all others, in /metrics and by the API. No notice can go out meanwhile."""
    if why := readiness.stays_ill("database"):
        yield Alarm(
            "database-hangs",
            "database-hangs",
            "The database does not answer",
            f"{why} The portal shows nothing, takes no report and sends no notice until it does. What is under way on a node goes on there.",
            "On the machine of PostgreSQL: is it running, does its disk answer (`iostat -x 1`, the kernel's log), is the disk full? `/readyz` of the"
            " portal says when it answers again. Until then `zpool status` on a node is the truth.",
            "/readyz",
        )


def database_hung(sources: Sources) -> Iterator[Alarm]:
    """For a day after it: no notice could go out while it lasted."""
    for one in sources.hung[:1]:
        title, text, do = hung_words(one)
        yield Alarm(
            "database-hung", "database-hung", title, text, do, "/readyz", datetime.fromisoformat(one.details["began"]), severity="watch"
        )


def hung_words(one: Happening) -> tuple[str, str, str]:
    """Title, what was so, and what to do."""
    began, last, again = (datetime.fromisoformat(one.details[name]) for name in ("began", "last", "again"))
    minutes = max(1, round((last - began).total_seconds() / 60))
    return (
        f"The database did not answer for about {minutes} minute{'' if minutes == 1 else 's'}. It answers again",
        f"It was first found so at {_second(began)} and last at {_second(last)}; at {_second(again)} it answered. Meanwhile the portal showed nothing,"
        " took no report and sent no notice. Agents kept what they could not send, and send it now.",
        "On the machine of PostgreSQL, its log and the kernel's log of that time give the reason: a disk that stopped, a disk that was full, a restart."
        " Look at the runs that were under way.",
    )


def _second(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M:%S} UTC"


def disk_full(sources: Sources) -> Iterator[Alarm]:
    """The database's own disk as this process last found it, and the disk under the portal's data folder as it is."""
    of_postgresql = "" if readiness.stays_ill("database") else readiness.stays_ill("disk")  # a database that hangs says nothing of its disk
    if why := of_postgresql or readiness.nearly_full():
        yield Alarm(
            "disk-full",
            "disk-full",
            "The disk under the portal is full, or nearly, or does not answer",
            f"{why} Without room the ledger takes nothing, so nothing is changed and no report is kept.",
            "Make room on the machine of the portal and on that of PostgreSQL: `df -h`. Never remove files of the ledger or of PostgreSQL by hand.",
            "/readyz",
        )


def ledger_contradicted(sources: Sources) -> Iterator[Alarm]:
    """One alarm, however many agents say so: each of them keeps the checkpoint it was shown, and what it is shown now does not continue it."""
    shrank = [key for key in sources.keys if ACCEPT in key.held]
    if not shrank:
        return
    names = [key.node.name for key in shrank]
    more = f" and {len(names) - NAMES_SHOWN} more" if len(names) > NAMES_SHOWN else ""
    yield Alarm(
        "ledger-contradicted",
        "ledger-contradicted",
        f"{len(names)} agent{'s say' if len(names) > 1 else ' says'} that the ledger contradicts what it showed before",
        f"{', '.join(names[:NAMES_SHOWN])}{more}: {shrank[0].held.partition(' This node only observes')[0]} An older database was put back, or the"
        " ledger was rewritten. What was recorded since may be missing here, runs and approvals too. These nodes only observe.",
        "Do not rely on this portal. At the console of a node, `slotlight-agent witness` shows the two checkpoints that contradict each"
        " other and `slotlight-agent status` what ran there. Compare them with an exported bundle or a newer backup. If there is a newer backup,"
        " stop the portal and put that back. If the older one is to stay, a person says so on each node: `slotlight-agent witness --accept`.",
        reverse("ledger"),
    )


def ledger_broken(sources: Sources) -> Iterator[Alarm]:
    """As the worker found it."""
    for one in sources.broken[:1]:
        yield Alarm(
            "ledger-broken",
            "ledger-broken",
            "The ledger is broken or cannot be written",
            "The portal refuses everything that changes a node until the ledger is whole again. Looking goes on.",
            "On the portal's machine: `./run manage ledger verify` names what is wrong.",
            reverse("ledger"),
            one.at,
        )


def identity_refused(sources: Sources) -> Iterator[Alarm]:
    """For each person about whom the database says something that this portal did not write there."""
    found: dict[str, list[Refusal]] = {}
    for one in sources.refused:
        found.setdefault(one.person, []).append(one)
    for person, rows in found.items():
        yield Alarm(
            "identity-refused",
            f"identity-refused:{person}",
            f"The database was changed outside the portal: who {f'{person} is' if person else 'a person is'} or what {person or 'people'} may do",
            f"{rows[0].why} It is refused and gives no right. Rows: {', '.join(row.name for row in rows[:NAMES_SHOWN])}"
            f"{f' and {len(rows) - NAMES_SHOWN} more' if len(rows) > NAMES_SHOWN else ''}.",
            "Another program or person may be able to write to this database: change its passwords, and look who can reach it. On the portal's machine,"
            " `./run manage identity` lists what is not accepted now. Delete it there, or confirm it if it is right.",
            reverse("ledger"),
            rows[0].first_at,
        )


def checkpoint_not_sent(sources: Sources) -> Iterator[Alarm]:
    for one in sources.unsent:
        last = (
            f"The last one that went there was over {one.size} events, at {one.sent_at:%Y-%m-%d %H:%M} UTC"
            if one.sent_at
            else "None ever went there"
        )
        yield Alarm(
            "checkpoint-not-sent",
            f"checkpoint-not-sent:{one.place}",
            f"Checkpoints of the ledger do not reach {one.place}",
            f"{one.why} {last}. A ledger that is put back or written anew would not show there.",
            "On the portal's machine: `./run manage ledger send` tries it now. Mend the place, or name another in SLOTLIGHT_CHECKPOINTS_TO and start"
            " the portal again.",
            reverse("ledger"),
            one.failing_since,
        )


def identity_key_lost(sources: Sources) -> Iterator[Alarm]:
    if why := seals.why_no_key():
        yield Alarm(
            "identity-key-lost",
            "identity-key-lost",
            "The key over accounts and rights cannot be used: no person can sign in",
            why,
            "Put `identity.key` back from the backup of the data folder. If it is lost: `./run manage identity begin-anew` on the portal's machine.",
            reverse("ledger"),
        )


def key_doubled(sources: Sources) -> Iterator[Alarm]:
    for key in (key for key in sources.keys if key.doubled_at is not None):
        yield Alarm(
            "key-doubled",
            f"key-doubled:{key.key_id}",
            f"Two machines use the key of {key.node.name}",
            f"{key.doubled_why.partition(' Nothing is ordered')[0]} Nothing that comes with it is accepted, and nothing is ordered.",
            "Find the second machine (a clone, a restored backup, a stolen key). Then revoke the key on the page of the node's agent, and at the"
            " console of the right machine: `slotlight-agent enrol --again` with a new token.",
            _agent(key),
            key.doubled_at,
            key.node.name,
        )


def counter_jumped(sources: Sources) -> Iterator[Alarm]:
    """A request that no agent can have numbered so: taken today's way it is turned away, and an older portal may have taken one."""
    for key in (key for key in sources.keys if key.jumped_at is not None or key.counter > _unreachable(sources.at)):
        yield Alarm(
            "counter-jumped",
            f"counter-jumped:{key.key_id}",
            f"Another machine may have the key of {key.node.name}: a request counter jumped",
            f"{key.jumped_why or f'The counter {key.counter} was taken from it, which no agent can have reached.'} Either another machine has the key, or"
            " the clock of the node was years ahead. The reports of the agent itself are still accepted.",
            "Revoke the key on the page of the node's agent, and at the console of the node: `slotlight-agent enrol --again` with a new token."
            " Ask who could read the agent's folder, and its backups.",
            _agent(key),
            key.jumped_at,
            key.node.name,
        )


def agent_held(sources: Sources) -> Iterator[Alarm]:
    """An agent holds itself back for another reason: its journal was put back, its keys are missing, its key is used elsewhere."""
    for key in (key for key in sources.keys if key.held and ACCEPT not in key.held and key.doubled_at is None):
        yield Alarm(
            "agent-held",
            f"agent-held:{key.key_id}",
            f"The agent of {key.node.name} holds itself back",
            f"It says: {key.held} It goes on reporting, and changes nothing.",
            f"At the console of {key.node.name}: `slotlight-agent status`, then `slotlight-agent doctor`.",
            _agent(key),
            None,
            key.node.name,
        )


def never_reported(sources: Sources) -> Iterator[Alarm]:
    unheard = (key for key in sources.keys if key.node.state == Node.State.ENROLLED and key.node.last_report_at is None)
    for key in (key for key in unheard if (sources.at - key.created_at).total_seconds() >= NEVER_SECONDS):
        yield Alarm(
            "never-reported",
            f"never-reported:{key.key_id}",
            f"{key.node.name} was enrolled and has never reported",
            f"Its agent enrolled at {key.created_at:%Y-%m-%d %H:%M} UTC. Nothing of the node is known, so nothing of it is watched.",
            f"On {key.node.name}: `slotlight-agent doctor` says what stands between the agent and the portal. Often it is the certificate of a"
            " private authority, a proxy, or a service that was not started.",
            _agent(key),
            key.created_at,
            key.node.name,
        )


def _agent(key: NodeKey) -> str:
    return reverse("node-agent", args=[key.node.name])


def agents_unreadable(sources: Sources) -> Iterator[Alarm]:
    """Asked of this process: web and worker may be other users, or on other machines."""
    if why := vault.fault():
        yield Alarm(
            "agents-unreadable",
            "agents-unreadable",
            "The portal cannot read the secrets of its agents",
            "Every agent is answered 503, so nothing that the fleet page shows is renewed.",
            f"On the portal's machine: {why} It must be readable by the user that web and worker run as.",
            reverse("fleet"),
        )


# The worst first: what makes everything else doubtful.
KINDS: Mapping[str, Callable[[Sources], Iterator[Alarm]]] = {
    "database-hangs": database_hangs,
    "disk-full": disk_full,
    "ledger-contradicted": ledger_contradicted,
    "ledger-broken": ledger_broken,
    "agents-unreadable": agents_unreadable,
    "identity-key-lost": identity_key_lost,
    "identity-refused": identity_refused,
    "key-doubled": key_doubled,
    "counter-jumped": counter_jumped,
    "agent-held": agent_held,
    "never-reported": never_reported,
    "checkpoint-not-sent": checkpoint_not_sent,
    "database-hung": database_hung,
}


WITHOUT_DATABASE = ("database-hangs", "disk-full", "agents-unreadable")  # what can be known while the database does not answer


def stamp(now: datetime) -> list[tuple[str, str, str]]:
    """The same for as long as the alarms that stand say the same."""
    return [(alarm.key, alarm.title, alarm.text) for alarm in standing(now)]


def standing(now: datetime, kinds: Iterable[str] = KINDS) -> list[Alarm]:
    """Every alarm that stands, the worst kinds first."""
    sources = Sources(now)
    return [alarm for kind in kinds for alarm in KINDS[kind](sources)]


def away() -> list[Alarm]:
    """What can be said while the database does not answer."""
    return standing(timezone.now(), WITHOUT_DATABASE)
