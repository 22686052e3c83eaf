"""The demo: made once, kept on warm starts, and without people where others can reach it."""

import json
import stat

import pytest
from django.core.management import CommandError, call_command

from app.accounts.models import User
from app.accounts.rights import APPROVE, MANUAL, OPERATE, may
from app.fleet.models import Node
from app.nodes.tests.cast import Agent, through
from twin.demo import WRITING, node_names

pytestmark = pytest.mark.django_db


@pytest.fixture
def demo(tmp_path, capsys):
    def run(*more):
        call_command("demo", "--dir", str(tmp_path), *more)
        return capsys.readouterr().out

    return run


def test_it_makes_tokens_that_enrol_and_policies(demo, tmp_path, client):
    demo()
    for name in node_names():
        token = tmp_path / f"{name}.token"
        assert stat.S_IMODE(token.stat().st_mode) == 0o600
        assert Agent(through(client), name).enrol(token.read_text())[0] == 200
        assert json.loads((tmp_path / name / "policy.json").read_text())["operations"] == list(WRITING)


def test_it_prints_sign_ins_that_work(demo, tmp_path, client):
    text = demo()
    sign_ins = json.loads((tmp_path / "sign-ins.json").read_text())
    assert sign_ins.keys() == {"operator", "approver", "technician", "viewer", "admin"}
    for name, password in sign_ins.items():
        assert f"Sign in as {name} with {password}" in text
        assert client.login(username=name, password=password)
    operator, approver, technician = (User.objects.get(username=name) for name in ("operator", "approver", "technician"))
    assert (may(operator, OPERATE, "oss01"), may(operator, APPROVE, "oss01"), may(approver, APPROVE, "oss01")) == (True, False, True)
    assert (may(technician, MANUAL, "oss01"), may(technician, OPERATE, "oss01")) == (True, False)


def test_it_changes_nothing_on_a_warm_start(demo, tmp_path, client):
    demo()
    Agent(through(client)).enrol((tmp_path / "oss01.token").read_text())
    (tmp_path / "oss01" / "policy.json").write_text("{}")
    before = (tmp_path / "sign-ins.json").read_text()
    demo()
    assert (tmp_path / "sign-ins.json").read_text() == before
    assert (tmp_path / "oss01" / "policy.json").read_text() == "{}"
    assert not (tmp_path / "oss01.token").exists()
    assert (tmp_path / "oss02.token").exists()
    assert Node.objects.count() == len(node_names())


@pytest.mark.parametrize("bind", ["0.0.0.0", "::", "portal.example", "10.0.0.7"])
def test_it_has_no_people_where_others_can_reach_it(demo, tmp_path, bind):
    demo()
    assert "Sign in as" not in demo("--bind", bind)
    assert not User.objects.filter(is_active=True).exists()
    assert not (tmp_path / "sign-ins.json").exists()
    assert "Sign in as operator" in demo("--bind", "::1")


def test_it_prints_a_token_for_a_new_node(capsys, client):
    call_command("add_node", "oss09")
    assert Agent(through(client), "oss09").enrol(capsys.readouterr().out.strip())[0] == 200


def test_it_refuses_a_name_that_is_no_node_name():
    with pytest.raises(CommandError, match="cannot be a node's name"):
        call_command("add_node", "../x")
