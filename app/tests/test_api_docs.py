"""docs/guide/api.md is run as it stands, by a shell, against a portal; so is the command line, for a whole walk."""

import json
import os
import re
import shutil
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest

from app.api.tests.cast import older, token
from app.ledger.models import LedgerEvent
from app.runs import in_hand
from app.runs.models import OpenLoop, Plan, ResourceLock, Run
from app.runs.tests.cast import BLANK, PHRASE, Oss01, act, incident, person, try_out, walk_to
from app.runs.tests.test_rack import BLINK, NEW, blink, left_lit
from cli import packaging
from workflows.engine import events as ev
from workflows.engine import plan_losses, plans

ROOT = Path(__file__).resolve().parents[2]
BLOCKS = re.findall(r"```sh\n(.*?)```", (ROOT / "docs" / "guide" / "api.md").read_text(), re.DOTALL)


@pytest.fixture
def address(portal, tmp_path, settings):
    settings.SLOTLIGHT_LEDGER_KEY = tmp_path / "ledger.key"
    return f"http://127.0.0.1:{portal}"


@pytest.fixture
def site(address, tmp_path):
    """A portal with the node of the incident; its address, ann who operates, bob who approves."""
    oss01 = Oss01(tmp_path)
    oss01.report()
    return address, oss01, person("ann", "operator"), person("bob", "approver")


@pytest.mark.skipif(shutil.which("curl") is None, reason="the page's blocks use curl, which this machine has not got: install it")
def test_every_block_of_the_page_does_what_it_says(site, tmp_path):
    address, _, ann, _ = site
    folder = tmp_path / "docs"
    folder.mkdir()
    names = {
        "PORTAL": address,
        "TOKEN": token(ann),
        "SITUATION": str(incident().pk),
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
    }
    script = "set -eu\n" + "\n".join(BLOCKS)
    output = subprocess.run(
        ["bash", "-c", script], capture_output=True, text=True, env=names | {"HOME": str(folder)}, cwd=folder, check=False
    )
    assert output.returncode == 0, output.stdout[-2000:] + output.stderr[-2000:]
    assert Run.objects.get().status == "aborted"
    assert "token-not-believed" in output.stdout
    assert "slotlight_nodes{" in output.stdout
    assert "NOT ESTABLISHED" in output.stdout
    assert "KEY NOT PINNED" in output.stdout


@pytest.fixture
def shell(address, tmp_path):
    """`shell(person's token, *words)`: the one file, as on a machine with nothing but Python."""
    file = tmp_path / packaging.NAME
    file.write_bytes(packaging.content(ROOT))

    def run(text: str, *words: str, code: int = 0):
        names = {"SLOTLIGHT_URL": address, "SLOTLIGHT_TOKEN": text, "COLUMNS": "80", "HOME": str(tmp_path), "PATH": os.environ["PATH"]}
        output = subprocess.run(
            [sys.executable, "-I", str(file), *words], capture_output=True, text=True, env=names, stdin=subprocess.DEVNULL, check=False
        )
        assert output.returncode == code, (words, output.stdout, output.stderr)
        return output

    return run


def test_the_incident_is_walked_on_the_command_line(site, shell):
    """Everything that is said fits 80 columns, but for identifiers that must not be broken."""
    _, oss01, ann, bob = site
    anns, bobs = token(ann), token(bob)
    assert "1 act" in shell(anns, "status", code=1).stdout
    assert "ACT" in shell(anns, "situations", "--most", "1").stdout
    number = str(incident().pk)
    assert "slotlight start" in shell(anns, "situation", number).stdout
    run = str(json.loads(shell(anns, "start", number, "--json").stdout)["id"])
    assert f"fits  {BLANK}" in shell(anns, "run", run).stdout
    assert "is already member" in shell(anns, "run", run, "why").stdout
    shell(anns, "run", run, "choose", BLANK)
    shell(anns, "run", run, "check")
    shell(anns, "run", run, "plan")
    oss01.work()
    asked_for = shell(anns, "run", run).stdout
    assert "Type the last 6 digits of the lost member's guid" in asked_for
    assert f"slotlight run {run} confirm WORDS" in asked_for
    assert PHRASE not in asked_for + shell(anns, "run", run, "--json").stdout
    shell(anns, "run", run, "confirm", *PHRASE.split())
    assert "zpool replace" in shell(bobs, "approvals").stdout
    asked = shell(bobs, "run", run, "approve", code=2)
    assert "this is no terminal" in asked.stderr
    assert "may not do this" in shell(anns, "run", run, "approve", "--yes", code=3).stderr
    late = older(token(bob), timedelta(minutes=16))
    assert "Make a new token" in shell(late, "run", run, "approve", "--yes", code=3).stderr
    shell(bobs, "run", run, "approve", "--yes")
    old = shell(anns, "run", run, "execute", "--yes", "--version", "1", code=6)
    assert "Read the run again" in old.stderr
    assert "SEALED" in shell(anns, "run", run, "execute", "--yes").stdout
    oss01.work()
    assert len([argv for argv in oss01.commands() if argv[:2] == ["zpool", "replace"]]) == 1
    used = [event.parsed["body"]["act"] for event in LedgerEvent.objects.filter(type="token.used", run=run).order_by("run_seq")]
    assert used[-1] == "run.execute"
    assert "token.used" in shell(anns, "ledger", "search", "--run", run).stdout
    shell(anns, "run", "999", code=4)
    for words in (("status",), ("situations",), ("runs",), ("nodes",), ("disks", "oss01:sdcw"), ("loops",), ("approvals",)):
        assert all(len(line) <= 80 for line in shell(anns, *words).stdout.splitlines()), words


def test_what_is_lost_stands_on_the_command_line_and_is_accepted_there_by_name(site, shell):
    _, oss01, ann, bob = site
    run = walk_to("approve", oss01, ann, bob)
    fields = {"margin_now": "1", "margin_during": "0", "vdev": "raidz2-0", "pool": "ost_0", "first": "", "why": ""}
    plan = Plan.objects.get(run=run)
    plan.pk, plan.round, plan.body = plans.digest(plan.body | {"redundancy": fields}), 2, plan.body | {"redundancy": fields}
    plan.accepts = plan_losses.to_accept(plan.body)
    plan.save(force_insert=True)
    run.state["plan"], run.state["plan_digest"] = plan.body, plan.pk
    run.save(update_fields=["state"])
    number, bobs, wanted = str(run.pk), token(bob), plan_losses.to_accept(run.here.plan)
    shown = " ".join(shell(bobs, "run", number).stdout.split())
    assert f"LOST {wanted}" in shown
    assert f'--accepted "{wanted}"' in shown
    assert "accept by name" in " ".join(shell(bobs, "run", number, "approve", "--yes", code=1).stderr.split())
    shell(bobs, "run", number, "approve", "--yes", "--accepted", wanted)
    assert LedgerEvent.objects.get(type="run.approved", run=number).parsed["body"]["accepts"] == wanted


def test_a_scan_is_corrected_on_the_command_line(shell, tmp_path):
    ann = person("ann", "operator")
    walk = blink(try_out(tmp_path, BLINK), ann, person("bob", "approver"))
    anns, run = token(ann), str(walk.run.pk)
    assert f"slotlight run {run} done WORDS" in shell(anns, "run", run).stdout
    assert "correct" not in shell(anns, "run", run).stdout
    shell(anns, "run", run, "correct", NEW, code=1)
    shell(anns, "run", run, "done", "ZAX1O09X")
    assert f"run {run} correct WORDS" in " ".join(shell(anns, "run", run).stdout.split())
    shell(anns, "run", run, "correct", NEW)
    walk.run.refresh_from_db()
    assert walk.run.here.params["spare_serial"] == NEW
    used = [event.parsed["body"]["act"] for event in LedgerEvent.objects.filter(type="token.used", run=run).order_by("run_seq")]
    assert used == ["run.correct", "run.hands", "run.correct"]


def test_what_another_run_holds_is_taken_over_on_the_command_line(site, shell, monkeypatch):
    monkeypatch.setattr(
        in_hand, "why_not", lambda runbook, params: ""
    )  # two runs on one member, as they could begin before that was refused
    _, oss01, ann, bob = site
    eve = person("eve", "operator")
    holder = walk_to("replace", oss01, ann, bob)
    Run.objects.filter(pk=holder.pk).update(situation_key="another")
    run = str(walk_to("replace", oss01, eve, bob).pk)
    act(holder, ev.ExecuteAsked, ann)
    eves = token(eve)
    assert f"take-over {holder.pk} WORDS" in shell(eves, "run", run).stdout
    for words in ((), ("x",), (str(holder.pk),)):
        assert "the number of the run that holds it, and why" in shell(eves, "run", run, "take-over", *words, code=2).stderr
    taking = ("run", run, "take-over", str(holder.pk), "ann", "went", "home.")
    assert "this is no terminal" in shell(eves, *taking, code=2).stderr
    assert "Make a new token" in shell(older(token(eve), timedelta(minutes=16)), *taking, "--yes", code=3).stderr
    assert set(ResourceLock.objects.values_list("run_id", flat=True)) == {holder.pk}
    assert "Held by" not in shell(eves, *taking, "--yes").stdout
    assert set(ResourceLock.objects.values_list("run_id", flat=True)) == {int(run)}
    event = LedgerEvent.objects.get(type="locks.taken-over", run=run)
    assert (event.actor, event.parsed["body"]["reason"]) == ("eve", "ann went home.")


def test_an_open_loop_is_closed_on_the_command_line_by_a_word_that_the_node_does_not_contradict(shell, tmp_path):
    ann = person("ann", "operator")
    walk = blink(try_out(tmp_path, BLINK), ann, person("bob", "approver"))
    lit, anns = left_lit(walk), token(ann)
    one = str(lit.pk)
    assert f"slotlight loop {one} close" in shell(anns, "loop", one).stdout
    assert "how you know" in shell(anns, "loop", one, "close", code=2).stderr
    shell(anns, "loop", one, "close", "It", "is", "dark.", code=1)
    assert OpenLoop.objects.filter(pk=lit.pk).exists(), "the node says that it shines"
    with walk.node.host.store.changing() as twin:
        twin.enclosures[0].bays = []
    walk.node.report()
    assert "Closed. 1 still open." in shell(anns, "loop", one, "close", "The", "shelf", "went", "back.").stdout
    assert LedgerEvent.objects.get(type="loop.closed").parsed["body"]["evidence"] == "The shelf went back."
    assert "no open loop" in shell(anns, "loop", one, "close", "again", code=4).stderr
