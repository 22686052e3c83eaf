"""Letting nodes in and shutting them out: by whom, with which words, and what it leaves."""

import io
import re
import subprocess
import time
import zipfile
from dataclasses import replace
from html import unescape

import pytest
from django.contrib.auth import get_user_model
from django.utils import timezone

from agents.collectors.base import Capture
from agents.orders.policy import Policy
from agents.packaging import deb, zipapp
from agents.portal.wire import fingerprint
from app.accounts import proof
from app.fleet.ingest import intake
from app.fleet.pages.overview import handed_out
from app.fleet.tests.cast import payload
from app.ledger.models import LedgerEvent
from app.nodes import downloads, pages
from app.nodes.models import EnrolToken, NodeKey
from app.nodes.tests.cast import Agent, through
from workflows.facts.tests.played import played

pytestmark = pytest.mark.django_db


@pytest.fixture
def administrator(client):
    person = get_user_model().objects.create_user("ada")
    person.memberships.create(role="admin")
    client.force_login(person)
    return client


def add(client, name="oss09", **more):
    return client.post("/add-node/", {"name": name, **more})


def test_an_operator_may_neither_add_nor_revoke(client, agent):
    person = get_user_model().objects.create_user("oz")
    person.memberships.create(role="operator")
    client.force_login(person)
    assert client.get("/add-node/").status_code == 403
    assert client.post("/nodes/oss01/agent/revoke/", {"name": "oss01"}).status_code == 403
    assert client.get("/nodes/oss01/agent/").status_code == 200
    assert NodeKey.objects.filter(revoked_at=None).count() == 1


def test_the_line_holds_the_digest_of_the_very_file_and_a_token_that_enrols(administrator):
    page = add(administrator).content.decode()
    digest, file = re.search(r'echo (?:"|&quot;)([0-9a-f]{64})  (\S+?)(?:"|&quot;)', page).groups()
    served = administrator.get(f"/agent/{file}").content
    assert digest == downloads.digest(file)
    assert zipfile.ZipFile(io.BytesIO(served)).testzip() is None
    token = re.search(r"--token=([\w-]+)", page)[1]
    newcomer = Agent(through(administrator), node="oss09")
    assert newcomer.enrol(token)[0] == 200
    assert fingerprint(newcomer.key) in administrator.get("/nodes/oss09/agent/").content.decode()


def test_the_token_is_told_once_and_kept_nowhere(administrator):
    answer = add(administrator)
    token = re.search(r"--token=([\w-]+)", answer.content.decode())[1]
    assert "no-store" in answer.headers["Cache-Control"]
    assert token not in administrator.get("/nodes/oss09/agent/").content.decode()
    assert token not in str(EnrolToken.objects.values_list())


def test_a_new_key_for_a_node_that_has_one_needs_its_name_again(administrator, agent):
    refused = add(administrator, "oss01")
    assert refused.status_code == 422
    assert "has an agent already" in refused.content.decode()
    assert 'value="oss01"' in refused.content.decode()
    assert add(administrator, "oss01", again="oss01").status_code == 200


@pytest.mark.parametrize("name", ["", "../x", "a b", "x" * 64, "-x"])
def test_a_name_that_is_none_is_refused_in_words(administrator, name):
    refused = add(administrator, name)
    assert refused.status_code == 422
    assert not EnrolToken.objects.exists()


def test_a_revoked_agent_is_not_believed_and_its_tokens_are_withdrawn(administrator, agent):
    add(administrator, "oss01", again="oss01")
    assert administrator.post("/nodes/oss01/agent/revoke/", {"name": "oss02"}).status_code == 422
    assert agent.ask("/agent/v1/reports", {})[0] != 401
    assert administrator.post("/nodes/oss01/agent/revoke/", {"name": "oss01"}).status_code == 302
    status, answer = agent.ask("/agent/v1/reports", {})
    assert status == 401
    assert "revoked" in answer["reason"]
    event = LedgerEvent.objects.order_by("pk").last()
    assert (event.type, event.actor) == ("key.revoked", "ada")
    page = administrator.get("/nodes/oss01/agent/").content.decode()
    assert "no agent" in page
    assert "No token waits" in page


def test_an_unknown_download_is_404(client):
    assert client.get("/agent/slotlight-agent.exe").status_code == 404


def test_the_package_is_one_that_dpkg_reads(tmp_path):
    file = tmp_path / deb.NAME
    file.write_bytes(downloads.content(deb.NAME))
    output = subprocess.run(["dpkg-deb", "--info", file], capture_output=True, text=True, check=True).stdout
    assert "Package: slotlight-agent" in output
    held = subprocess.run(["dpkg-deb", "--contents", file], capture_output=True, text=True, check=True).stdout
    assert "./usr/sbin/slotlight-agent" in held
    assert "./etc/slotlight/policy.json" in held


def test_both_files_are_the_same_bytes_each_time():
    for name, (build, _) in downloads.FILES.items():
        assert build(zipapp_root()) == downloads.content(name)


def zipapp_root():
    from django.conf import settings

    assert zipapp.sources(settings.BASE_DIR)
    return settings.BASE_DIR


def test_each_way_has_a_line_for_a_portal_of_a_private_authority(administrator):
    page = add(administrator).content.decode()
    lines = [unescape(line).strip() for line in re.findall(r"<pre[^>]*>(.*?)</pre>", page)]
    private, public = ([line for line in lines if ("ca.pem" in line) == own] for own in (True, False))
    plain = [
        line.replace("--cacert ca.pem ", "").replace('cafile="ca.pem"', "cafile=None").removesuffix(" --ca ca.pem") for line in private
    ]
    assert plain == public
    assert [deb.NAME in line for line in public] == [False, True, False]
    assert all("install --portal" in line for line in public)  # which speaks through the relay and waits for the first report


def test_a_token_for_a_node_needs_a_fresh_password(administrator, settings):
    """Whoever finds the screen unlocked must not let a machine in, or shut one out."""
    person = get_user_model().objects.get(username="ada")
    person.set_password("correct horse battery")
    person.save()
    administrator.force_login(person)
    session = administrator.session
    session[proof.PROVED] = time.time() - proof.FRESH_SECONDS - 1
    session.save()
    assert b'name="password"' in administrator.get("/add-node/").content
    for typed in ({}, {"password": "wrong"}):
        answer = add(administrator, **typed)
        assert answer.status_code == 422
        assert not EnrolToken.objects.exists()
    assert b"--token=" in add(administrator, password="correct horse battery").content
    assert EnrolToken.objects.count() == 1


def test_the_agents_page_names_the_build_that_it_would_get_here(administrator, agent):
    assert f"version 1 (this portal hands out {handed_out()})" in administrator.get("/nodes/oss01/agent/").content.decode()


def reports(rule: str) -> None:
    """The node reports nothing but what its agent says of itself."""
    lines = [Capture("agent", "", "data", f"version:1\n{f'policy:{rule}' if rule else ''}\n")]
    assert intake.receive("oss01", payload("oss01", lines, mode="operate"), timezone.now()) == []


def test_the_agents_page_shows_what_its_own_policy_lets_through(administrator, agent):
    assert "It has not reported yet." in unescape(administrator.get("/nodes/oss01/agent/").content.decode())
    rule = Policy(
        "operate", ("zpool_replace", "locate_led"), ("17", "*"), "/etc/slotlight/policy.json says so.", False, "/etc/slotlight/policy.json"
    )
    reports(rule.as_text())
    page = unescape(administrator.get("/nodes/oss01/agent/").content.decode())
    for words in ("zpool_replace", "locate_led", "every pool", "17</span> (not on this node now)", "never where the glass was broken"):
        assert words in page
    reports(Policy("observe", why="there is no /etc/slotlight/policy.json.").as_text())
    assert "It only lets itself be observed: there is no /etc/slotlight/policy.json." in unescape(
        administrator.get("/nodes/oss01/agent/").content.decode()
    )


def test_a_pool_that_its_policy_names_is_shown_by_its_name(administrator, agent, monkeypatch):
    here = played("other-host/3-forced")
    allowed, *_ = here.pools
    rule = Policy("operate", ("zpool_replace",), (str(allowed.guid),))
    monkeypatch.setattr(pages, "facts_of", lambda node: replace(here, policy=rule))
    page = unescape(administrator.get("/nodes/oss01/agent/").content.decode())
    assert f"{allowed.guid}</span> ({allowed.name})" in page


def test_a_policy_that_is_not_reported_is_not_known(administrator, agent):
    reports("")
    page = unescape(administrator.get("/nodes/oss01/agent/").content.decode())
    assert "What it lets through is not known." in page
