"""A right in one team does nothing for a node of another, at any moment between the click and the command."""

import pytest

from app.accounts.models import Team
from app.fleet.models import Node
from app.runs import services
from app.runs.models import Order, ResourceLock, Run
from app.runs.ordering import orders
from app.runs.people import takeover
from app.runs.tests.cast import act, begin, offers, person, to_team, walk_to
from workflows.engine import events as ev

pytestmark = pytest.mark.django_db


@pytest.fixture
def teams(oss01):
    """oss01 belongs to storage; ann operates and bob approves there. eve and cid are the same elsewhere."""
    storage, elsewhere = Team.objects.create(name="storage"), Team.objects.create(name="elsewhere")
    hand_over_node(storage)
    return storage, elsewhere


def hand_over_node(team):
    node = Node.objects.get(name="oss01")
    node.team = team
    node.save(update_fields=["team"])


def of(team, name, role):
    made = person(name, role)
    to_team(made, team)
    return made


@pytest.fixture
def cast(teams):
    storage, elsewhere = teams
    names = {"ann": (storage, "operator"), "bob": (storage, "approver"), "eve": (elsewhere, "operator"), "cid": (elsewhere, "approver")}
    return {name: of(team, name, role) for name, (team, role) in names.items()}


def test_who_operates_elsewhere_begins_and_does_nothing_here(cast, oss01):
    with pytest.raises(services.NotAllowed, match="eve may not do this. It takes an operator or an approver for oss01."):
        begin(cast["eve"])
    with pytest.raises(services.NotAllowed):
        services.look(cast["eve"], "oss01", ("block",))
    run = begin(cast["ann"])
    with pytest.raises(services.NotAllowed):
        act(run, ev.Aborted, cast["eve"], reason="x")
    with pytest.raises(services.NotAllowed):
        takeover.withdraw(run.pk, run.version, cast["eve"], "x")
    assert Run.objects.get().status == "open"


def test_who_approves_elsewhere_approves_nothing_here(cast, oss01):
    run = walk_to("approve", oss01, cast["ann"], cast["bob"])
    with pytest.raises(services.NotAllowed, match="It takes an approver for oss01"):
        act(run, ev.Approved, cast["cid"], plan_digest=run.here.plan_digest)
    assert services.approvals_for(cast["cid"]) == ([], [run])
    assert services.approvals_for(cast["bob"])[0] == [run]


def test_sealing_asks_again_when_the_approver_has_moved_to_another_team(cast, teams, oss01):
    run = walk_to("replace", oss01, cast["ann"], cast["bob"])
    to_team(cast["bob"], teams[1])
    with pytest.raises(services.RunRefused, match="bob may not approve any more"):
        act(run, ev.ExecuteAsked, cast["ann"])
    assert not Order.objects.filter(operation="zpool_replace").exists()


@pytest.mark.parametrize("moved", ["ann", "bob", "the node"])
def test_dispatch_asks_again_when_somebody_or_the_node_has_moved(cast, teams, oss01, moved):
    run = walk_to("replace", oss01, cast["ann"], cast["bob"])
    act(run, ev.ExecuteAsked, cast["ann"])
    assert len(offers()) == 1
    if moved == "the node":
        hand_over_node(teams[1])
    else:
        to_team(cast[moved], teams[1])
    order = Order.objects.get(operation="zpool_replace")
    assert "may not" in orders.claim("oss01", order.pk, order.digest)
    order.refresh_from_db()
    assert order.status == "REFUSED"
    assert not ResourceLock.objects.exists()
    assert oss01.commands() == []


def test_a_technician_does_what_hands_do_and_nothing_else(cast, oss01):
    tess, run = person("tess", "technician"), begin(cast["ann"])
    for kind, fields in ((ev.Chosen, {"value": "x"}), (ev.CheckAsked, {}), (ev.PlanAsked, {}), (ev.Aborted, {"reason": "x"})):
        with pytest.raises(services.NotAllowed):
            act(run, kind, tess, **fields)
    with pytest.raises(services.NotAllowed):
        services.look(tess, "oss01", ("block",))
    with pytest.raises(services.RunRefused) as refused:  # this step asks for no hands; her right is not what is missing
        act(run, ev.HandsDone, tess, evidence="x")
    assert not isinstance(refused.value, services.NotAllowed)
