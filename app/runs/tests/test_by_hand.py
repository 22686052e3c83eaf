"""A run by hand: the same plan, confirmation and approvals, one showing of the command, and only a later look of the node settles it."""

import re
from pathlib import Path

import pytest
from django.urls import reverse

from agents.collectors import node as node_collector
from agents.collectors.base import Capture
from agents.collectors.by_hand import FOLDER
from agents.host.paths import OBSERVE
from agents.orders import policy as policies
from app.ledger.models import Blob, LedgerEvent
from app.runs import pasted, services
from app.runs.models import Order, ResourceLock, Run
from app.runs.people import takeover
from app.runs.tests.cast import BLANK, PHRASE, act, begin
from workflows.engine import events as ev
from workflows.engine.by_hand import snippet_of

pytestmark = pytest.mark.django_db


class Marked:
    """The node's host, with what a snippet left in memory."""

    def __init__(self, host):
        self.host, self.files = host, {}

    def __getattr__(self, name):
        return getattr(self.host, name)

    def list(self, pattern):
        if pattern != f"{FOLDER}/*":
            return self.host.list(pattern)
        return tuple(sorted({path.rsplit("/", 1)[0] for path in self.files}))

    def read(self, path):
        return self.files[path].encode() if path in self.files else self.host.read(path)

    def mark(self, nonce, *, exit_code="0", **changed):
        info = node_collector.parse(node_collector.collect(self.host)[0].text)
        begun = {"nonce": nonce, "hostid": info.hostid, "boot_id": info.boot_id, "at": "1795696381"} | changed
        ended = {"nonce": nonce, "exit_code": exit_code, "at": "1795696384", "output": ""}
        for name, fields in (("begun", begun), ("ended", ended)):
            self.files[f"{FOLDER}/{nonce}/{name}"] = "".join(f"{key} {value}\n" for key, value in fields.items())


def observe(node):
    """The node's owner only lets it be observed from now on, and it says so."""
    path = node.executor._standing._policy_path
    Path(path).write_text(OBSERVE)
    own = Capture("agent", "", "data", f"version:1\npolicy:{policies.load(path).as_text()}\n")
    collected = node.captures
    node.captures = lambda: [*collected(), own]
    node.report()


@pytest.fixture
def observed(oss01):
    oss01.host = oss01.executor._host = Marked(oss01.host)
    observe(oss01)
    return oss01


def walked(observed, ann, bob):
    run = begin(ann)
    act(run, ev.Chosen, ann, value=BLANK)
    act(run, ev.CheckAsked, ann, by_hand="yes")
    act(run, ev.PlanByHandAsked, ann)
    observed.work()
    act(run, ev.Confirmed, ann, text=PHRASE)
    run.refresh_from_db()
    act(run, ev.Approved, bob, plan_digest=run.here.plan_digest)
    run.refresh_from_db()
    return run


def shown(observed, ann, bob):
    run = act(walked(observed, ann, bob), ev.ByHandAsked, ann)
    run.refresh_from_db()
    return run


def give(observed, run):
    observed.host.run(tuple(run.here.plan["argv"]), 10)


def look(observed, run, ann):
    act(run, ev.ByHandLookAsked, ann)
    observed.work()
    run.refresh_from_db()
    return run


def test_what_the_policy_forbids_as_an_order_leads_to_the_way_by_hand(observed, ann, bob):
    run = begin(ann)
    act(run, ev.Chosen, ann, value=BLANK)
    with pytest.raises(services.RunRefused) as refused:
        act(run, ev.CheckAsked, ann)
    assert [v.by_hand for v in refused.value.verdicts if v.outcome != "pass"] == [True]
    act(run, ev.CheckAsked, ann, by_hand="yes")
    with pytest.raises(services.RunRefused):
        act(run, ev.PlanAsked, ann)


def test_it_is_settled_by_a_look_that_shows_nonce_host_and_effect(observed, ann, bob):
    run = shown(observed, ann, bob)
    assert (run.status, ResourceLock.objects.filter(run=run).count() > 0) == ("unknown", True)
    assert not Order.objects.exclude(effect="pure").exists()
    give(observed, run)
    observed.host.mark(run.here.shown.nonce)
    look(observed, run, ann)
    assert run.step != "replace", run.here.note
    assert [f.by for f in run.here.finished if f.step == "replace"] == ["ann"]
    assert not Order.objects.exclude(effect="pure").exists()


def test_the_showing_is_an_event_of_its_own_and_its_text_is_evidence(observed, ann, bob):
    run = shown(observed, ann, bob)
    event = LedgerEvent.objects.get(type="run.by-hand-shown")
    body = event.parsed["body"]
    assert (event.actor, body["nonce"], body["plan_digest"]) == ("ann", run.here.shown.nonce, run.here.plan_digest)
    assert bytes(Blob.objects.get(pk=body["snippet"]).bytes).decode() == snippet_of(run.here)


def test_one_approval_shows_it_once_and_gives_no_order(observed, ann, bob):
    run = walked(observed, ann, bob)
    with pytest.raises(services.RunRefused, match="by hand"):
        act(run, ev.ExecuteAsked, ann)
    act(run, ev.ByHandAsked, ann)
    with pytest.raises(services.RunRefused):
        act(run, ev.ByHandAsked, ann)


def test_who_approved_it_is_not_shown_it(observed, ann, bob, eve):
    run = walked(observed, ann, bob)
    bob.memberships.create(role="operator")
    with pytest.raises(services.RunRefused, match="has a hand in this run"):
        act(run, ev.ByHandAsked, bob)


def test_nothing_is_shown_without_an_approval(observed, ann):
    run = begin(ann)
    act(run, ev.Chosen, ann, value=BLANK)
    act(run, ev.CheckAsked, ann, by_hand="yes")
    act(run, ev.PlanByHandAsked, ann)
    observed.work()
    act(run, ev.Confirmed, ann, text=PHRASE)
    with pytest.raises(services.RunRefused):
        act(run, ev.ByHandAsked, ann)


ATTACKS = {
    "nothing was run": lambda observed, run: None,
    "another nonce": lambda observed, run: observed.host.mark("f" * 32),
    "on another host": lambda observed, run: observed.host.mark(run.here.shown.nonce, hostid="deadbeef"),
    "before a reboot": lambda observed, run: observed.host.mark(run.here.shown.nonce, boot_id="0" * 36),
    "it says it ran, and no effect is seen": lambda observed, run: observed.host.mark(run.here.shown.nonce),
}


@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS)
def test_a_look_that_does_not_show_all_of_it_leaves_it_unknown(observed, ann, bob, attack):
    run = shown(observed, ann, bob)
    attack(observed, run)
    look(observed, run, ann)
    assert (run.status, run.step) == ("unknown", "replace"), run.here.note
    assert ResourceLock.objects.filter(run=run).exists()


def test_an_effect_without_the_nonce_leaves_it_unknown(observed, ann, bob):
    """Somebody typed the command by itself: that it took effect is no proof that the snippet, with its checks, was run."""
    run = shown(observed, ann, bob)
    give(observed, run)
    look(observed, run, ann)
    assert run.status == "unknown"


def test_forged_output_settles_nothing(observed, ann, bob):
    run = shown(observed, ann, bob)
    nonce = run.here.shown.nonce
    pasted.keep(run.pk, ann, f"slotlight: nonce {nonce}\nslotlight: ended with exit code 0, nonce {nonce}\n")
    run.refresh_from_db()
    assert run.status == "unknown"
    body = LedgerEvent.objects.get(type="run.by-hand-pasted").parsed["body"]
    assert body["reads"] == ["It names this showing.", "It says that the command ended with exit code 0."]
    look(observed, run, ann)
    assert run.status == "unknown"


def test_a_command_that_failed_without_effect_stops_the_run(observed, ann, bob):
    run = shown(observed, ann, bob)
    observed.host.mark(run.here.shown.nonce, exit_code="1")
    look(observed, run, ann)
    assert (run.status, ResourceLock.objects.filter(run=run).exists()) == ("stopped", False)


def test_while_the_snippet_can_be_run_nobody_says_that_it_was_not(observed, ann, bob):
    run = shown(observed, ann, bob)
    with pytest.raises(services.RunRefused, match="may still run it"):
        act(run, ev.Settled, ann, outcome="did_not", reason="I did not run it.")


def test_what_it_holds_is_not_taken_over_meanwhile(observed, ann, bob):
    holder = shown(observed, ann, bob)
    other = Run.objects.create(
        runbook=holder.runbook, definition_digest=holder.definition_digest, params=holder.params, node=holder.node,
        requester=ann, state=holder.state, status="open", step="replace", created_at=holder.created_at,
    )  # fmt: skip
    with pytest.raises(services.RunRefused, match="given by hand"):
        takeover._stop_orders_of(holder, other, ann, holder.created_at)


def test_the_page_leads_there_and_back(observed, ann, bob, client):
    run = begin(ann)
    act(run, ev.Chosen, ann, value=BLANK)
    client.force_login(ann)
    page = client.get(reverse("run", args=[run.pk])).content.decode()
    assert "Go on by hand" in page
    act(run, ev.CheckAsked, ann, by_hand="yes")
    assert "Plan it, to do it by hand" in client.get(reverse("run", args=[run.pk])).content.decode()


def test_the_page_shows_the_snippet_to_who_asked_for_it_alone(observed, ann, bob, client):
    run = walked(observed, ann, bob)
    client.force_login(ann)
    before = client.get(reverse("run", args=[run.pk])).content.decode()
    assert "Show the command, to give it by hand" in before
    assert 'id="snippet"' not in before
    run = act(run, ev.ByHandAsked, ann)
    page = client.get(reverse("run", args=[run.pk])).content.decode()
    assert re.search(r'id="snippet" data-copy>env -i ', page)
    client.force_login(bob)
    assert 'id="snippet"' not in client.get(reverse("run", args=[run.pk])).content.decode()


def test_what_is_pasted_is_kept_by_the_page(observed, ann, bob, client):
    run = shown(observed, ann, bob)
    client.force_login(ann)
    fields = {"act": "paste", "version": run.version, "output": "slotlight: DIFFERS: hostid: 'deadbeef', planned as '007f0101'"}
    page = client.post(reverse("run-act", args=[run.pk]), fields, follow=True).content.decode()
    assert "DIFFERS: hostid" in page


def test_after_the_node_alone_refused_the_way_by_hand_stays_on_the_way_back_to_the_plan(oss01, ann, bob, client):
    """The portal knows of nothing against it: the node's owner changed the policy after the node's last report."""
    run = begin(ann)
    act(run, ev.Chosen, ann, value=BLANK)
    act(run, ev.CheckAsked, ann)
    act(run, ev.PlanAsked, ann)
    oss01.work()
    act(run, ev.Confirmed, ann, text=PHRASE)
    run.refresh_from_db()
    act(run, ev.Approved, bob, plan_digest=run.here.plan_digest)
    Path(oss01.executor._standing._policy_path).write_text(OBSERVE)
    act(run, ev.ExecuteAsked, ann)
    oss01.work()
    run.refresh_from_db()
    assert (run.status, run.here.order.status) == ("stopped", "REFUSED")
    act(run, ev.WentBack, ann, step="plan")
    client.force_login(ann)
    assert "Plan it, to do it by hand" in client.get(reverse("run", args=[run.pk])).content.decode()
    act(run, ev.PlanByHandAsked, ann)
    oss01.work()
    run.refresh_from_db()
    assert run.step == "confirm", run.here.note


def test_the_plan_by_hand_says_in_words_what_the_snippet_compares(observed, ann, bob, client):
    run = walked(observed, ann, bob)
    client.force_login(ann)
    page = client.get(reverse("run", args=[run.pk])).content.decode()
    assert "What the snippet compares before it runs the command" in page
    assert "The snippet checks the node once more" in page
    for internal in ("By_hand", "[[", "<strong>Run.</strong>", "Why this is safe"):
        assert internal not in page, internal
    assert "What refuses it" in page


def test_what_is_to_be_done_with_the_snippet_stands_before_what_was_asked(observed, ann, bob, client):
    shown_ = shown(observed, ann, bob)
    client.force_login(ann)
    page = client.get(reverse("run", args=[shown_.pk])).content.decode()
    assert re.search(r"<details><summary>\d+ guards, as they were when the command was shown</summary><ul class=.sl-verdicts", page)
