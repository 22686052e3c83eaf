"""The same schedules on the real portal: `app.runs`, its triggers and the ledger, in PostgreSQL with real commits.

`DjangoPortal` is what `Simulation` takes for its portal. It dies at commits: before one, the connection is cut, as it is when a process
ends; after one, the answer is lost. What nodes say of their disks is kept here, because the simulation's disks are not the fleet's.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from types import SimpleNamespace
from unittest import mock

from django.db import connection
from django.db.backends.base.base import BaseDatabaseWrapper

from agents.trust.transparency_log import read_note
from app.accounts.models import User
from app.ledger import services as ledger
from app.ledger.models import LedgerChain, LedgerEvent
from app.nodes import keys, sessions
from app.runs import models, services
from app.runs.ordering import orders
from app.runs.people import takeover
from tests.simulator import people, swap
from tests.simulator.playing import installed
from tests.simulator.portal import Order, PortalDied, Run, Tables, leaf, merkle, read
from tests.simulator.simulator import KEYS, NODES, Simulation
from workflows.engine import events as ev
from workflows.facts import FleetFacts
from workflows.runbooks import RUNBOOKS

ROLE = {person: "approver" if "approve" in rights else "operator" for person, rights in people.RIGHTS.items()}
DIES = 0.01  # at each commit, and there are several in most of what it is asked
WITHOUT = ("portal_is_saved", "portal_is_put_back")  # that takes a database of its own


def settle_in() -> dict[str, int]:
    """People and enrolled nodes, once per database; node -> its key."""
    for person, role in ROLE.items():
        User.objects.create_user(person).memberships.create(role=role)
    now, found = datetime.now(UTC), {}
    for node in NODES:
        fields = {"token": keys.issue_token(node, "test"), "node": node, "key": base64.b64encode(KEYS[node]).decode()}
        found[node] = keys.enrol(fields, now).pk
    return found


class DjangoPortal:
    def __init__(self, sim: Simulation, node_keys: dict[str, int]) -> None:
        self.sim, self.node_keys = sim, node_keys
        self.reports: dict[str, tuple[int, float, str]] = {}
        self.first = max(models.Run.objects.values_list("pk", flat=True), default=0) + 1
        self.known = LedgerChain.objects.count()
        self.log_key = ledger.public_keys()["log_key"]
        self.at_work = False
        self._read: Tables | None = None

    @property
    def now(self) -> float:
        return self.sim.world.clock + self.sim.portal_skew

    def moment(self) -> datetime:
        return datetime.fromtimestamp(self.now, UTC)

    @contextmanager
    def _working(self) -> Iterator[None]:
        self.at_work = True
        try:
            yield
        except PortalDied:
            connection.close()
            raise
        finally:
            self.at_work, self._read = False, None
            self.sim.committed()

    def _does(self, what: Callable[[], object]) -> str:
        """ "" when it was done, else why not."""
        with self._working():
            try:
                what()
            except (services.RunRefused, ledger.LedgerDown) as refused:
                return str(refused)
        return ""

    # --- what it knows

    @property
    def tables(self) -> Tables:
        if self._read is None:
            mine = models.Run.objects.filter(pk__gte=self.first)
            runs = {str(run.pk): Run(str(run.pk), run.here, run.version) for run in mine.order_by("pk")}
            found = models.Order.objects.filter(run__in=mine).select_related("sealed_by").order_by("sealed_at", "pk")
            locks = {lock.key: (str(lock.run_id), lock.fence) for lock in models.ResourceLock.objects.all()}
            bodies = LedgerEvent.objects.filter(chain__isnull=False).order_by("chain__seq").values_list("body", flat=True)
            self._read = Tables(runs, {order.pk: _order(order) for order in found}, locks, ledger=tuple(map(bytes, bodies)))
        return self._read

    def facts(self, node: str) -> FleetFacts:
        return FleetFacts({name: facts for name, facts in self.all_facts().nodes.items() if name == node})

    def facts_near(self, words: object, at: object = None) -> FleetFacts:
        return self.all_facts()

    def all_facts(self, at: object = None) -> FleetFacts:
        by_node = {node: swap.facts(node, text, self.now - at).nodes[node] for node, (_, at, text) in self.reports.items()}
        return FleetFacts(by_node)

    def tree(self, size: int | None = None) -> merkle.Tree:
        return merkle.Tree([leaf(body) for body in self.tables.ledger[:size]])

    def root(self, size: int) -> bytes:
        return self.tree(size).root()

    def checkpoint(self) -> tuple[int, bytes]:
        return len(self.tables.ledger), self.tree().root()

    # --- people

    def begin(self, person: str, params: dict[str, str]) -> str:
        user, key = User.objects.get(username=person), f"sim:{params['vdev_guid']}"
        return self._does(lambda: services.start_run(user, swap.RUNBOOK.slug, params, key))

    def act(self, person: str, run_id: str, version: int, kind: type[ev.Event], **fields) -> str:
        user = User.objects.get(username=person)
        return self._does(lambda: services.act(int(run_id), version, kind, user, proved_at=self.moment(), **fields))

    def take_over(self, person: str, run_id: str) -> str:
        """For another run that waits for what this one holds; where there is none, its order is withdrawn."""
        user, runs = User.objects.get(username=person), self.tables.runs
        other = next((r for r in runs.values() if r.id != run_id and (r.state.step, r.state.status) == ("replace", "open")), None)
        if other is None:
            return self._does(lambda: takeover.withdraw(int(run_id), runs[run_id].version, user, "It must wait."))
        return self._does(lambda: takeover.take_over(int(other.id), other.version, int(run_id), user, "We are first.", self.moment()))

    # --- nodes

    def _hears(self, node: str) -> None:
        nonce = self.sim.agents[node].nonce
        if nonce:
            sessions.report_received(self.node_keys[node], nonce, self.moment())

    def next_for(self, node: str) -> list[dict]:
        with self._working():
            self._hears(node)
            return orders.next_for(node)

    def go(self, node: str, order_id: str, digest: str, word: str) -> str:
        with self._working():
            return getattr(orders, word)(node, order_id, digest)

    def receipt(self, node: str, order_id: str, body: dict) -> str:
        with self._working():
            return orders.receipt(node, order_id, body)

    def report(self, node: str, count: int, text: str, taken_at: float) -> None:
        with self._working():
            self._hears(node)
        self._hear(node, count, text, taken_at)

    def _hear(self, node: str, count: int, text: str, at: float) -> None:
        if self.reports.get(node, (-1,))[0] <= count:
            self.reports[node] = (count, at, text)

    def take_captures(self, node: str, answered, now: datetime) -> tuple[tuple[str, ...], str]:
        for capture in answered.captures:
            self._hear(node, self.sim.count(), answered.bodies[capture["digest"]]["text"], self.now)
        return tuple(sorted(capture["digest"] for capture in answered.captures)), ""

    # --- time

    def sweep(self) -> None:
        with self._working():
            orders.sweep()

    def tick(self, run_id: str) -> None:
        with self._working():
            services.tick(int(run_id))


def _order(row: models.Order) -> Order:
    started = row.started_at.timestamp() if row.started_at else 0.0
    who = row.sealed_by.username if row.sealed_by else ""
    times = (row.sealed_at.timestamp(), row.expires_at.timestamp())
    texts = (row.canonical, row.digest, row.status, row.reason, started, row.receipt_digest)
    return Order(
        row.pk, row.node, str(row.run_id or ""), row.number, row.operation, row.effect, row.plan_id or "", row.fence, who, *times, *texts
    )


class OnPostgresql(Simulation):
    """A schedule on the real portal. `number` keeps the secrets of one simulation from being those of another in the same database."""

    def __init__(self, shared, own, node_keys: dict[str, int], number: int) -> None:
        self.node_keys = node_keys
        super().__init__(shared, own)
        self.counted = number * 1_000_000
        self.world.clock = self.epoch = datetime.now(UTC).timestamp()

    def make_portal(self) -> DjangoPortal:
        return DjangoPortal(self, self.node_keys)

    def portal_dies(self, when: str) -> bool:
        return self.luck(DIES)

    def proofs(self, offer: dict) -> dict:
        """The portal's own. Its note is believed when it says what the whole ledger says."""
        if offer["proofs"]:
            checkpoint = read_note(offer["proofs"]["checkpoint"], self.portal.log_key)
            self.need(checkpoint.root == self.portal.root(checkpoint.size), "A checkpoint does not say what the ledger says.")
            for agent in self.agents.values():
                agent.notes[offer["proofs"]["checkpoint"]] = checkpoint
        return offer["proofs"]

    def rights_change(self) -> None:
        super().rights_change()
        self._give_rights()

    def comes_to_an_end(self) -> None:
        self.no_longer_may.clear()
        self._give_rights()
        super().comes_to_an_end()

    def _give_rights(self) -> None:
        """A person has all of a role's rights or none."""
        lost = {right.partition(":")[0] for right in self.no_longer_may}
        for person, role in ROLE.items():
            held = User.objects.get(username=person).memberships
            if person in lost:
                held.all().delete()
            else:
                held.get_or_create(team=None, role=role)


@contextmanager
def real_portal(sim: OnPostgresql) -> Iterator[None]:
    """The portal runs on the simulation's clock, knows its runbook and its facts, and can die at every commit."""
    commit, portal = BaseDatabaseWrapper._commit, sim.portal

    def dying(wrapper):
        if portal.at_work and sim.portal_dies("before"):
            sim.log("the portal dies before a commit")
            wrapper.close()
            raise PortalDied("The portal died before it committed.")
        commit(wrapper)
        if portal.at_work and sim.portal_dies("after"):
            sim.log("the portal dies after a commit")
            raise PortalDied("The portal died after it committed.")

    patches = (
        mock.patch.dict(RUNBOOKS, {swap.RUNBOOK.slug: swap.RUNBOOK}),
        mock.patch("django.utils.timezone.now", portal.moment),
        mock.patch("app.runs.services.facts_near", portal.facts_near),
        mock.patch("app.runs.ordering.orders.take_captures", portal.take_captures),
        mock.patch.object(BaseDatabaseWrapper, "_commit", dying),
        installed(sim),
    )
    with ExitStack() as stack:
        for patch in patches:
            stack.enter_context(patch)
        yield


def play(sim: OnPostgresql, actions) -> SimpleNamespace:
    with real_portal(sim):
        try:
            sim.play([action for action in actions if action[0] not in WITHOUT])
        finally:
            for agent in sim.agents.values():
                agent.die()
    return SimpleNamespace(seen=sim.seen, events=[read(body) for body in sim.portal.tables.ledger])
