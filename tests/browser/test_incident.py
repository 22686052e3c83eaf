"""The incident as an operator walks it at night: the real stack, the real agent on a twin, two people at two browsers.

oss01 has lost a member of ost_0 whose old name leads to a healthy disk today. The trail is at its end when the pool is
whole, the one command that ran is the one that was shown, and a stranger can check what was recorded.
"""

import shlex
import subprocess
import sys
import zipfile

import pytest
from playwright.sync_api import expect

from app.ledger import verify as verifier

LOST = "14718944552882581455"
SDCW_GUID = "7602460441426092393"
SDFL_GUID = "1779373169119696648"
BLANK = "naa:5000c500a670c5fb"
PATIENCE = 90_000  # the replace, the resilver, and the reports between
PHRASE = "581455 ost_0"


@pytest.fixture(scope="module")
def operator(visit):
    return visit("operator")


@pytest.fixture(scope="module")
def approver(visit):
    return visit("approver")


def test_the_situation_names_the_lost_member_its_old_name_and_who_has_it_now(operator):
    operator.open_incident()
    main = operator.page.get_by_role("main")
    for words in (LOST, "/dev/sdfl1", "Today it leads to sdfl (naa:5000c500a6754abb), a healthy disk", "Do not use -f"):
        expect(main).to_contain_text(words)
    expect(main).to_contain_text(f"the member {SDCW_GUID} has the same one")


def test_a_disk_that_is_not_blank_or_too_small_is_refused_with_the_reason(operator):
    operator.start()
    operator.step("Choose the new disk")
    operator.take("sdcw")
    operator.refusal(f"sdcw (naa:5000cca273a7d9e8) is already member {SDCW_GUID} of ost_0")
    operator.take("sdfl")
    operator.refusal(f"sdfl (naa:5000c500a6754abb) is already member {SDFL_GUID} of ost_0")
    operator.take("sdcy")
    operator.refusal("carries a label of the pool scratch9 of oss77")
    operator.take(", 8 TB, ")
    operator.refusal("has 8001563222016 bytes; the smallest disk of raidz2-3 has 9796820402176")


def test_the_blank_disk_passes_every_question_and_the_node_plans(operator):
    operator.take(BLANK)
    operator.step("Check pool, lost member and new disk")
    operator.press("Check now")
    operator.step("Have the node plan it")
    operator.press("Ask the node for its plan")
    operator.step("Confirm what is replaced")
    plan = operator.page.locator("#plan")
    expect(plan).to_contain_text(f"zpool replace ost_0 {LOST} /dev/disk/by-id/wwn-0x5000c500a670c5fb")
    expect(plan).to_contain_text("raidz2-3")


def test_a_wrong_phrase_is_refused_and_kept_and_the_right_one_passes(operator):
    wrong = "426092 ost_0"
    operator.page.get_by_label("Confirmation").fill(wrong)
    operator.press("Confirm")
    operator.refusal("What was typed is not what the plan says")
    expect(operator.page.get_by_label("Confirmation")).to_have_value(wrong)
    operator.page.get_by_label("Confirmation").fill(PHRASE)
    operator.press("Confirm")
    operator.step("Have another person approve the plan")


def test_the_requester_cannot_approve_not_even_by_a_forged_request(operator, stack):
    step = operator.step("Have another person approve the plan")
    expect(step).to_contain_text("Another person must approve it")
    expect(operator.button("Approve this plan")).to_have_count(0)
    answer = operator.forge(act="approve", plan_digest=operator.page.locator("input[name=plan_digest]").get_attribute("value"))
    assert answer.status == 409
    assert "another person" in answer.text().lower()
    assert stack.commands("oss01", "zpool", "replace") == []


def test_another_person_approves_and_the_operator_sees_it_without_reloading(operator, approver):
    operator.page.evaluate("window.loadedOnce = true")
    expect(approver.page.get_by_label("1 to judge")).to_be_visible()
    approver.page.get_by_role("link", name="Approvals").click()
    approver.page.get_by_role("region", name="Waiting for your approval").get_by_role("link", name="Read the plan and decide").click()
    approver.step("Have another person approve the plan")
    shown = {visitor.page.locator("#plan-argv").inner_text() for visitor in (operator, approver)}
    assert len(shown) == 1
    approver.press("Approve this plan")
    operator.step("Replace the disk")
    assert operator.page.evaluate("window.loadedOnce")


def test_exactly_the_command_shown_runs_once_and_the_resilver_bar_moves(operator, stack):
    argv = shlex.split(operator.page.locator("#argv").inner_text())
    operator.press("Replace the disk")
    operator.step("Wait for the resilver")
    bar = operator.page.get_by_role("progressbar")
    expect(bar).to_be_visible()
    first = bar.get_attribute("value")
    expect(bar).not_to_have_attribute("value", first)
    expect(operator.page.locator(".sl-head")).to_contain_text("done", timeout=PATIENCE)
    assert operator.page.evaluate("window.loadedOnce"), "the bar moved by server-sent events, not by loading the page again"
    assert stack.commands("oss01", "zpool", "replace") == [argv]


def test_the_pool_is_whole_and_the_situation_is_over(operator):
    verified = operator.page.locator(".sl-steps > li").filter(has_text="Verify that the new disk has taken over")
    expect(verified).to_have_class("done")
    operator.page.goto("/")
    wrong = operator.page.get_by_role("region", name="What is wrong now")
    expect(wrong).not_to_contain_text(LOST)
    operator.page.goto("/nodes/oss01/pools/ost_0/")
    expect(operator.page.get_by_role("region", name="Vdev tree of ost_0")).not_to_contain_text(LOST)
    expect(operator.page.locator(".sl-head")).to_contain_text("ONLINE")


def test_a_stranger_can_check_the_audit_trail_and_one_changed_byte_is_found(operator, tmp_path):
    key = pinned_on(operator.page)
    operator.page.goto("/runs/")
    operator.page.get_by_role("link", name=LOST).click()
    with operator.page.expect_download() as download:
        operator.page.get_by_role("link", name="Audit trail (zip)").click()
    with zipfile.ZipFile(download.value.path()) as bundle:
        bundle.extractall(tmp_path)
    assert verify(tmp_path).returncode == 3, verify(tmp_path).stdout
    assert verify(tmp_path, key).returncode == 0, verify(tmp_path, key).stdout
    events = tmp_path / "events.jsonl"
    damaged = bytearray(events.read_bytes())
    damaged[damaged.index(b"approver")] ^= 1
    events.write_bytes(damaged)
    assert verify(tmp_path, key).returncode == 1


def verify(bundle, key: str = "") -> subprocess.CompletedProcess:
    """As somebody with a checkout does it: the program that came with the bundle is not asked."""
    words = [sys.executable, verifier.__file__, str(bundle), *(["--key", key] if key else [])]
    return subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)


def pinned_on(page) -> str:
    """The fingerprint of the ledger's key, as the page Ledger shows it."""
    page.goto("/ledger/")
    return page.locator("#ledger-key code[data-copy]").inner_text().strip()


def test_no_page_complained(operator, approver):
    """Neither a script's error nor anything that the content security policy held back."""
    assert [complaint for who in (operator, approver) for complaint in who.complaints if "409 (Conflict)" not in complaint] == []
