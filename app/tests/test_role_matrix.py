"""Every URL, asked by everybody there can be: generated from ROUTES, so that a new page is asked too.

What each role may is written here a second time on purpose; `app.accounts.rights` must agree.
"""

import pytest
from django.db import connection, transaction
from django.test import Client
from django.utils import timezone

from app.accounts import waiting
from app.accounts.models import Role, Team, User
from app.api.models import Token
from app.api.tests.cast import token
from app.core.permissions_by_route import (
    AGENT,
    ANYBODY,
    API,
    APPROVE,
    BREAK_GLASS,
    ENROL,
    HOOK,
    METRICS,
    NOTICES,
    OPERATE,
    PEOPLE,
    ROUTES,
    SIGNED_IN,
    TECHNICIAN,
    TOKEN,
)
from app.fleet.models import Node, Situation
from app.nodes.models import EnrolToken, NodeKey
from app.notices import channels
from app.notices.models import Channel, Hook, Notice
from app.postmortems import services as postmortems
from app.postmortems.models import Postmortem, Version
from app.runs.models import Approval, BrokenGlass, OpenLoop, Order, Run
from app.runs.tests.cast import Oss01, act, incident, person, to_team, walk_to
from app.runs.tests.test_rights import archive
from app.snapshots import bringing
from app.snapshots.models import Snapshot
from app.tests.test_permissions_by_route import PATHS
from workflows.engine import events as ev

MAY = {
    "viewer": (),
    "technician": (),
    "operator": (OPERATE,),
    "approver": (OPERATE, APPROVE),
    "glass-breaker": (OPERATE, BREAK_GLASS),
    "admin": (ENROL, PEOPLE, NOTICES),
}
ELSEWHERE = (TECHNICIAN, HOOK, API, METRICS)  # asked by a token of their own kind; their tests stand beside them
WITHOUT_A_NODE = (ENROL, PEOPLE, NOTICES)  # asked for the whole fleet on most pages
FEW = ("nobody", "viewer", "operator of another team", "switched off")
# A team's administrator lets that team's nodes in and out. The page to add one opens for it, and takes the name of such a node only; so does the page
# to bring a host for a team's operator.
ALSO = {
    "admin of its team": {("get", "add-node"), ("post", "node-agent-revoke")},
    "admin of another team": {("get", "add-node")},
    "operator of another team": {("get", "snapshot-bring")},
}
CHANGED = (
    Run,
    Order,
    Approval,
    BrokenGlass,
    OpenLoop,
    NodeKey,
    EnrolToken,
    Node,
    Snapshot,
    User,
    Team,
    Token,
    Channel,
    Notice,
    Hook,
    Postmortem,
    Version,
)
# What is never committed is never sealed, and exports wait for the seal; and no worker runs here.
NOT_READY = ((503, "run-bundle"), (503, "ready"))
REFUSED = ("may not", "needs the approver")


@pytest.fixture
def forms(db, tmp_path, settings) -> dict[str, tuple[str, dict]]:
    """For each URL that asks for a right, a form that does something when somebody with the right sends it."""
    settings.BREAK_GLASS = ("zpool_replace",)
    node, ann, bob = Oss01(tmp_path), person("ann", "operator"), person("bob", "approver")
    node.report()
    mine = Node.objects.get(name="oss01")
    mine.team = Team.objects.create(name="storage")
    mine.save(update_fields=["team"])
    ann.memberships.create(role="glass-breaker")
    run = walk_to("approve", node, ann, bob)
    act(run, ev.GlassBroken, ann, plan_digest=run.here.plan_digest, reason="x")
    loop = OpenLoop.objects.create(run=run, node="oss01", loop="lit", what="Bay 68 is lit.", undo="x", by="ann", at=timezone.now())
    run.refresh_from_db()
    bringing.bring(archive("oss08", tmp_path).read(), ann, bringing.Asked())
    brought = Node.objects.get(name="oss08")
    brought.team = mine.team
    brought.save(update_fields=["team"])
    held = ann.memberships.get(role="glass-breaker")
    token(ann)
    given = ann.memberships.create(role="approver", given_by=bob, counts_at=timezone.now() + waiting.WAIT)
    story, notice_row = postmortems.begin(ann, "Seen", [run], None), notice(ann)
    hook = Hook.objects.create(name="prom", token_hash="0" * 64, created_at=timezone.now(), created_by=ann)
    span = {name: getattr(story, name).isoformat() for name in ("since", "until")}
    return {
        "run-start": ("/runs/start/", {"runbook": run.runbook, "situation": incident().pk}),
        "situation-review": (f"/situations/{word().pk}/review/", {"why": "x", "days": "3"}),
        "run-act": (f"/runs/{run.pk}/act/", {"act": "abort", "version": run.version, "reason": "x"}),
        "loop-close": (f"/open-loops/{loop.pk}/close/", {"version": run.version, "evidence": "x"}),
        "glass-review": (f"/broken-glass/{BrokenGlass.objects.get().pk}/review/", {"words": "x"}),
        "look": ("/nodes/oss01/look/", {"source": "block"}),
        "add-node": ("/add-node/", {"name": "oss09"}),
        "node-agent-revoke": ("/nodes/oss01/agent/revoke/", {"name": "oss01"}),
        "people": ("/people/", {}),
        "person": ("/people/of/ann/", {}),
        "person-add": ("/people/add/", {"name": "new"}),
        "person-give": ("/people/of/ann/give/", {"role": "viewer"}),
        "person-take": ("/people/of/ann/take/", {"membership": held.pk}),
        "person-switch": ("/people/of/ann/switch/", {"on": "0"}),
        "person-password": ("/people/of/ann/password/", {}),
        "person-factors": ("/people/of/ann/factors/", {}),
        "person-confirm": ("/people/of/ann/confirm/", {"key": waiting.key(given)}),
        "person-withdraw": ("/people/of/ann/withdraw/", {"key": waiting.key(given)}),
        "person-tokens": ("/people/of/ann/tokens/", {"token": "all"}),
        "team-add": ("/people/teams/add/", {"team": "new"}),
        "teams": ("/people/teams/", {}),
        "node-team": ("/nodes/oss01/team/", {"team": ""}),
        "postmortem-begin": ("/postmortems/begin/", {"run": run.pk, "title": "x"}),
        "postmortem-edit": (f"/postmortems/{story.pk}/edit/", {"version": "0", "summary": "x"}),
        "postmortem-collect": (f"/postmortems/{story.pk}/collect/", span),
        "channel-add": ("/notices/channels/add/", {"name": "x", "severity": "act", "zone": "UTC", "url": "json://127.0.0.1:9/x"}),
        "channel": (f"/notices/channels/{notice_row.channel.pk}/", {}),
        "channel-change": (f"/notices/channels/{notice_row.channel.pk}/change/", {"name": "y", "severity": "act", "zone": "UTC"}),
        "channel-test": (f"/notices/channels/{notice_row.channel.pk}/test/", {}),
        "channel-remove": (f"/notices/channels/{notice_row.channel.pk}/remove/", {}),
        "notice-again": (f"/notices/{notice_row.pk}/again/", {}),
        "hook-add": ("/notices/hooks/add/", {"name": "x"}),
        "hook-revoke": (f"/notices/hooks/{hook.pk}/revoke/", {}),
        "snapshot-bring": ("/snapshots/bring/", {"archive": archive("oss08", tmp_path)}),
        "snapshot-retire": ("/snapshots/oss08/retire/", {}),
    }


def word() -> Situation:
    """A word that nothing explains."""
    fields = {"subject": {"sign": "smart:x", "text": "x"}, "meaning": "", "evidence": [], "answers": []}
    about = {"key": "unexplained:x", "slug": "unexplained", "severity": "watch", "title": "x", "opened_at": timezone.now(), "data": fields}
    return Situation.objects.create(node=Node.objects.get(name="oss01"), **about)


def notice(by: User) -> Notice:
    """One that was given up."""
    channel = channels.keep(Channel(name="north", severity="act", zone="UTC"), "json://127.0.0.1:9/x", by)
    notice = channels.try_out(channel, by)
    notice.state = Notice.State.FAILED
    notice.save()
    return notice


@pytest.fixture
def everybody(forms) -> dict[str, tuple[Client, frozenset]]:
    """who -> (their browser, the rights they have for oss01)."""
    elsewhere = Team.objects.create(name="elsewhere")
    found = {"nobody": (Client(), frozenset())}
    for role, rights in MAY.items():
        found[role] = (browser(person(f"a {role}", role)), frozenset(rights))
    for role in ("operator", "admin"):
        here, other = person(f"{role} here", role), person(f"{role} elsewhere", role)
        to_team(here, Team.objects.get(name="storage"))
        to_team(other, elsewhere)
        found[f"{role} of its team"] = (browser(here), frozenset(MAY[role]) - set(WITHOUT_A_NODE))
        found[f"{role} of another team"] = (browser(other), frozenset())
    gone = person("gone", "approver")
    found["switched off"] = (browser(gone), frozenset())
    gone.is_active = False
    gone.save(update_fields=["is_active"])
    return found


def browser(who: User) -> Client:
    made = Client()
    who.password = "md5$x$x"  # one that can be asked for; a good hash takes its time
    who.save()
    made.force_login(who)
    return made


def everything() -> list:
    """What stands in all rows of these tables, as digests in one answer of the server: it is asked for a thousand times."""
    tables = [(model._meta.db_table, model._meta.pk.column) for model in CHANGED]
    rows = "SELECT '{0}', md5(coalesce(string_agg(md5({0}::text), '' ORDER BY {0}.{1}), '')) FROM {0}"
    with connection.cursor() as cursor:
        cursor.execute(" UNION ALL ".join(rows.format(table, key) for table, key in tables) + " ORDER BY 1")
        return cursor.fetchall()


def ask(client: Client, method: str, path: str, form: dict):
    """(status, where it leads, what it says), and the database as it was before."""
    cookies = dict(client.cookies)
    with transaction.atomic():
        answer = getattr(client, method)(path, form)
        answered = answer.status_code, answer.headers.get("Location", ""), b"".join(answer).decode(errors="replace")
        after = everything() if method == "post" else None
        transaction.set_rollback(True)
    client.cookies.clear()
    client.cookies.update(cookies)
    return *answered, after


def is_refusal(status: int, text: str) -> bool:
    return status == 403 or (status == 409 and any(words in text for words in REFUSED))


def test_every_role_is_asked():
    assert set(MAY) == set(Role.values)


def test_every_url_that_asks_for_a_right_has_a_form(forms):
    assert set(forms) == {name for name, asks in ROUTES.items() if asks not in (ANYBODY, SIGNED_IN, TOKEN, AGENT, *ELSEWHERE)}


def test_every_url_answers_every_role_as_it_states(forms, everybody):
    wrong, before = [], everything()
    for name, asks in ROUTES.items():
        path, form = forms.get(name, (PATHS[name], {}))
        for who, (client, rights) in everybody.items():
            for method in methods(asks, who):
                status, leads, text, after = ask(client, method, path, form if method == "post" else {})
                may = asks in rights or (method, name) in ALSO.get(who, ())
                why = judge(name, who, may, method, status, leads, text)
                if after not in (None, before) and (asks in (ANYBODY, SIGNED_IN, TOKEN, AGENT, *ELSEWHERE) or not may):
                    why = why or "it changed something"
                if why:
                    wrong.append(f"{method} {name} by {who}: {status}, {why}")
    assert not wrong, "\n".join(wrong)
    Node.objects.filter(name="oss01").update(team=None)
    assert everything() != before, "a change of one field is seen"


def methods(asks: str, who: str) -> tuple[str, ...]:
    """What changes nothing of others' is sent a form by a few only: what it then does is tested where the page is."""
    return ("get", "post") if asks not in (ANYBODY, SIGNED_IN) or who in FEW else ("get",)


def judge(name: str, who: str, may: bool, method: str, status: int, leads: str, text: str) -> str:
    """What is wrong with this answer; "" is nothing."""
    asks, to_sign_in = ROUTES[name], status == 302 and leads.startswith("/sign-in/?next=")
    if status >= 500 and (status, name) not in NOT_READY:
        return "it failed"
    if asks == TECHNICIAN:
        return "" if status == 410 else "a session opened what only a link opens"
    if asks == METRICS:
        return ""  # this machine itself may
    if asks in (AGENT, TOKEN, HOOK, API):
        return "" if status in (400, 401, 403, 404, 405) else "a session got through a door for agents"
    if asks == ANYBODY:
        return "it asks who is there" if to_sign_in else ""
    if who in ("nobody", "switched off"):
        return "" if to_sign_in else "it was shown to nobody"
    if to_sign_in:
        return "it asked somebody who is signed in to sign in"
    if asks == SIGNED_IN:
        return "it refuses somebody who may look" if is_refusal(status, text) else ""
    if may:
        return "it refuses who has the right" if is_refusal(status, text) else ""
    return "" if is_refusal(status, text) or (method == "get" and status == 405) else "it does not refuse"
