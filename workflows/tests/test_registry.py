"""What holds for every runbook and every operation the moment it is listed, whoever wrote it."""

from __future__ import annotations

import errno
import itertools
import json
import re

import pytest

from agents.host.host import Ran
from agents.operations import OPERATIONS
from agents.operations.base import UNKNOWN
from agents.tests.test_operations import GOOD
from workflows.engine import lint
from workflows.engine.core import Verdict
from workflows.facts import FleetFacts
from workflows.runbooks import RUNBOOKS
from workflows.tests.incident import FLEET, NODE
from workflows.tests.readable import assert_readable, faults

NOTHING = FleetFacts({})
OTHERS = FleetFacts({"elsewhere": NODE})
STEPS = [pytest.param(book, step, id=f"{book.slug}/{step.slug}") for book in RUNBOOKS.values() for step in book.steps]
GUARDS = sorted(
    {
        (f"{guard.__module__.removeprefix('workflows.')}.{guard.__name__}", guard)
        for book in RUNBOOKS.values()
        for step in book.steps
        for guard in (*step.guards, *([step.until] if step.kind == "WAIT" else []))
    },
    key=lambda pair: pair[0],
)
BY_NAME = [pytest.param(guard, id=name) for name, guard in GUARDS]
WRITING = [pytest.param(module, id=name) for name, module in OPERATIONS.items() if module.EFFECT != "pure"]


def params_of(book, **over) -> dict[str, str]:
    """Parameters as a run may have them, that lead to nothing."""
    chosen = {step.param: "naa:5000c500ffffffff" for step in book.steps if step.param}
    return {**dict.fromkeys(book.params, "1"), **chosen, "node": "oss01", **over}


# --- runbooks


@pytest.mark.parametrize("book", RUNBOOKS.values(), ids=RUNBOOKS)
def test_its_definition_breaks_no_rule(book):
    assert lint.problems(book, OPERATIONS) == ()


@pytest.mark.parametrize(("book", "step"), STEPS)
def test_its_words_can_be_read(book, step):
    for sentence in (step.why, *([step.phrase_hint] if step.kind == "CONFIRM" else [])):
        assert_readable(sentence)
    assert step.title[0].isupper()
    assert not step.title.endswith(".")


A_PERSONS_WORD = ("hold_days",)  # how long something may stand; a way around the order (`leads_to`) needs no facts either


@pytest.mark.parametrize(("book", "step"), STEPS)
@pytest.mark.parametrize("facts", [NOTHING, OTHERS], ids=["nothing", "other-nodes"])
def test_nothing_of_a_step_passes_or_breaks_when_nothing_is_known(book, step, facts):
    for params in (params_of(book), {}):
        if step.kind == "DECIDE":
            given = [option for option in step.options(facts, params) if not (option.leads_to or step.param in A_PERSONS_WORD)]
            assert all(blocked(option.verdicts) for option in given)
        if getattr(step, "progress", None) and params:
            assert not faults(step.progress(facts, params).text) or step.progress(facts, params).percent is None
        if step.guards and params:
            assert blocked(tuple(guard(facts, params) for guard in step.guards)), "every guard passes on nothing"


def blocked(verdicts: tuple[Verdict, ...]) -> bool:
    return any(verdict.outcome != "pass" for verdict in verdicts)


@pytest.mark.parametrize("guard", BY_NAME)
@pytest.mark.parametrize("facts", [NOTHING, OTHERS], ids=["nothing", "other-nodes"])
def test_a_guard_says_in_a_sentence_why_it_does_not_pass(guard, facts):
    for book in RUNBOOKS.values():
        if any(guard in step.guards or guard is getattr(step, "until", None) for step in book.steps):
            verdict = guard(facts, params_of(book))
            assert verdict.outcome in ("refuse", "unknown"), verdict
            assert_readable(verdict.reason)


@pytest.mark.parametrize("guard", BY_NAME)
def test_a_guard_answers_for_whatever_parameters(guard):
    for params in ({}, {"node": ""}, {"node": "oss01"}, *({**params_of(b), "pool_guid": "x", "vdev_guid": ""} for b in RUNBOOKS.values())):
        verdict = guard(FLEET, params)
        assert verdict.outcome in ("pass", "refuse", "unknown")
        assert verdict.outcome == "pass" or not faults(verdict.reason), verdict


@pytest.mark.parametrize("book", [b for b in RUNBOOKS.values() if b.locks], ids=lambda b: b.slug)
def test_it_holds_nothing_rather_than_everything(book):
    """Locks that name nothing, or anything, would hold nobody off."""
    for facts in (NOTHING, OTHERS, FLEET):
        for key in book.locks(facts, params_of(book)):
            kind, _, what = key.partition(":")
            assert kind in ("pool", "disk", "bay", "node", "tunables", "modes")
            assert what
            assert not set(what) & set("*? ")


HOSTILE_PLANS = ({}, {"argv": []}, {"argv": ["zpool"], "params": {}}, {"outgoing": None, "incoming": 7}, {"outgoing": [], "incoming": "x"})


@pytest.mark.parametrize(("book", "step"), [p for p in STEPS if p.values[1].kind == "PLAN"])
@pytest.mark.parametrize("facts", [NOTHING, FLEET], ids=["nothing", "incident"])
def test_it_believes_no_plan_that_says_nothing(book, step, facts):
    if step.agrees is None:
        return
    for plan in HOSTILE_PLANS:
        verdicts = step.agrees(facts, params_of(book), plan)
        assert blocked(verdicts), plan
        assert all(v.outcome == "pass" or not faults(v.reason) for v in verdicts), verdicts


# --- operations

# A name of the moment, a place in a list, a switch that overrules, or words for a shell.
MOVES = re.compile(r"(?:^|/)(?:sd[a-z]+|nvme\d+n\d+|dm-\d+)(?:p?\d+)?$|^\[?\d+:\d+:\d+:\d+\]?$")
HOSTILE = (
    *("", " ", "*", "?", "p*", "-f", "-F", "--force", "-", "sda", "sdx1", "/dev/sda", "/dev/sdx1", "dm-3", "6:0:89:0", "[6:0:89:0]"),
    *("a b", "$(reboot)", "a;b", "a|b", "..", "../../etc", "p/../q", "a\0b", "a\nb", "naa:*", "naa:", "0", "-1", "1" * 40, "²"),
)


def assert_harmless(words: tuple[str, ...], pool: str = "") -> None:
    """A pool may be called what it likes, also `sda`; nothing else may."""
    assert words, "no command at all"
    assert words[0].isalpha(), words
    for word in words[1:]:
        assert word.strip(), words
        assert word == pool or not MOVES.search(word), words
        assert not set(word) & set("*?;|&$`\0\n"), words
    of_a_fenced_host = ("zpool", "import", "-f", "-N", "-o", "cachefile=none", "-d")  # zpool_import_fenced, which two people stand for
    assert not {"-f", "--force"} & set(words[1:]) or words[:7] == of_a_fenced_host, words
    for_good = ("zpool", "import", "-F", "-N", "-o", "cachefile=none", "-R")  # zpool_rewind, which is destructive and so approved
    assert "-F" not in words or "readonly=on" in words or words[:7] == for_good, words
    without_a_lost_log = ("zpool", "import", "-N", "-m")  # zpool_import_without_log, which two people stand for
    assert "-m" not in words or words[:4] == without_a_lost_log, words
    assert not {"-X", "-D", "-M"} & set(words[1:]), words


@pytest.mark.parametrize("operation", WRITING)
def test_what_it_runs_names_no_disk_by_a_name_that_moves_and_forces_nothing(operation):
    assert_harmless(operation.argv(GOOD[operation.NAME]))


@pytest.mark.parametrize("operation", WRITING)
def test_a_hostile_parameter_is_refused_or_harmless(operation):
    for name, value in itertools.product(GOOD[operation.NAME], HOSTILE):
        params = {**GOOD[operation.NAME], name: value}
        why = operation.check(params)
        if why:
            assert_readable(why)
        else:
            assert_harmless(operation.argv(params), params.get("pool", ""))


class DeadHost:
    """A machine that answers nothing."""

    def run(self, argv, timeout_seconds):
        return Ran(tuple(argv), None, b"", b"", timeout_seconds, "timeout")

    def read(self, path):
        raise OSError(errno.EIO, "no answer", path)

    def read_device(self, path, regions):
        raise OSError(errno.EIO, "no answer", path)

    def erase(self, path, regions, agrees):
        raise OSError(errno.EIO, "no answer", path)

    def write(self, path, data):
        raise OSError(errno.EIO, "no answer", path)

    def list(self, pattern):
        return ()

    def link(self, path):
        raise OSError(errno.ENOENT, "no such thing", path)

    def now(self):
        return 1_800_000_000.0


@pytest.mark.parametrize("operation", WRITING)
def test_on_a_node_that_answers_nothing_it_does_not_run(operation):
    good = GOOD[operation.NAME]
    pre = operation.preconditions(DeadHost(), good)
    assert any(value.startswith(UNKNOWN) for value in pre.values())
    against = [reason for outcome, reason in operation.guards(pre, good) if outcome != "pass"]
    assert against
    for reason in against:
        assert_readable(reason[0].upper() + reason[1:])  # a fact's name may stand first


@pytest.mark.parametrize("operation", WRITING)
def test_without_any_fact_it_does_not_run(operation):
    verdicts = operation.guards({}, GOOD[operation.NAME])
    assert any(outcome != "pass" for outcome, _ in verdicts)


@pytest.mark.parametrize("operation", [p for p in WRITING if p.values[0].EFFECT == "at_most_once"])
def test_its_probe_on_a_node_that_answers_nothing_cannot_tell(operation):
    answer = operation.probe(DeadHost(), GOOD[operation.NAME], {})
    assert answer.result == "cannot_tell"
    assert_readable(answer.reason)


@pytest.mark.parametrize("operation", WRITING)
def test_its_plan_on_a_node_that_answers_nothing_is_refused(operation):
    asked = {"operation": operation.NAME, "params": json.dumps(GOOD[operation.NAME])}
    answer = OPERATIONS["plan"].run(DeadHost(), asked)
    assert answer.outcome == "refused"
    assert answer.result["argv"] == list(operation.argv(GOOD[operation.NAME]))
    assert answer.reason


@pytest.mark.parametrize("operation", [p for p in WRITING if p.values[0].DESTRUCTIVE])
def test_what_destroys_runs_at_most_once(operation):
    assert operation.EFFECT == "at_most_once"
