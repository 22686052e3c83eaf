"""What a step shows before its button: what is lost, what it rests on, the plan; and no button that is not for this reader."""

import re

import pytest

from app.runs.tests.cast import PHRASE, act, walk_to
from workflows.engine import events as ev

pytestmark = pytest.mark.django_db


def step(client, reader, run) -> str:
    client.force_login(reader)
    shown = " ".join(client.get(run.get_absolute_url()).content.decode().split())
    return shown[shown.index('id="now-title"') : shown.index('id="stopping"')]


@pytest.mark.parametrize(("at", "button"), [("confirm", "confirm"), ("approve", "approve"), ("replace", "execute")])
def test_plan_and_what_it_rests_on_stand_before_the_button(oss01, ann, bob, client, at, button):
    run = walk_to(at, oss01, ann, bob)
    shown = step(client, bob if at == "approve" else ann, run)
    assert shown.index('id="safe"') < shown.index('id="plan-argv"') < shown.index(f'value="{button}"')
    assert shown.count('id="plan"') == 1


@pytest.mark.parametrize("at", ["check", "plan"])
def test_the_questions_stand_before_the_button(oss01, ann, bob, client, at):
    shown = step(client, ann, walk_to(at, oss01, ann, bob))
    assert shown.index('id="safe"') < shown.index(f'name="act" value="{at}"')


def test_what_must_be_typed_is_not_printed(oss01, ann, bob, client):
    run = walk_to("confirm", oss01, ann, bob)
    client.force_login(ann)
    assert PHRASE not in client.get(run.get_absolute_url()).content.decode()


def test_who_approved_gets_no_button_to_carry_it_out(oss01, ann, bob, client):
    run = walk_to("approve", oss01, ann, bob)
    act(run, ev.Approved, bob, plan_digest=run.here.plan_digest)
    assert not re.search(r'value="execute"', step(client, bob, run))
    assert "You approved this plan." in step(client, bob, run)
    assert 'value="execute"' in step(client, ann, run)
