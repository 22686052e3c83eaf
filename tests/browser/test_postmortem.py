"""After the incident: the lead finds it in the ledger, writes the postmortem with a colleague, and takes copies of it.

Each page is sound in every look; and all of it is done once more without JavaScript.
"""

import json

import pytest
from playwright.sync_api import expect

from tests.browser.test_pages import faults

RUN = "Replace a lost member, whatever its name is today"
PASTE = """[root@oss09 ~]# zpool status -P
  pool: tank
 state: DEGRADED
config:

\tNAME                                        STATE     READ WRITE CKSUM
\ttank                                        DEGRADED     0     0     0
\t  mirror-0                                  DEGRADED     0     0     0
\t    /dev/disk/by-id/wwn-0x5000c500a65b202b  REMOVED      0     0     0
\t    /dev/disk/by-id/wwn-0x5000c500a65b202f  ONLINE       0     0     0

errors: No known data errors
"""


@pytest.fixture(scope="module")
def operator(visit):
    return visit("operator")


@pytest.fixture(scope="module")
def plain(visit):
    """Somebody whose browser runs no script."""
    return visit("operator", java_script_enabled=False)


def begin(visitor, title: str) -> None:
    visitor.page.goto("/postmortems/")
    visitor.page.get_by_label("What happened, in a few words").fill(title)
    visitor.page.get_by_role("checkbox", name=RUN).first.check()
    visitor.press("Begin the postmortem")
    expect(visitor.heading(title)).to_be_visible()


def write(visitor, **sections: str) -> None:
    for slug, text in sections.items():
        visitor.page.locator(f"#section-{slug}").fill(text)
    visitor.press("Save as a new version")


def copy(visitor, name: str) -> bytes:
    with visitor.page.expect_download() as download:
        visitor.page.get_by_role("link", name=name, exact=True).click()
    return download.value.path().read_bytes()


def test_without_a_run_the_page_says_how_to_come_by_one(operator):
    operator.page.goto("/postmortems/")
    expect(operator.page.get_by_role("main")).to_contain_text("There is no run yet.")
    assert faults(operator) == []


def test_a_postmortem_is_begun_from_a_run_and_tells_its_story(operator):
    operator.open_incident()
    operator.start()
    operator.step("Choose the new disk")
    begin(operator, "A bay swapped at night")
    section = operator.page.get_by_role("region", name="Timeline").first
    expect(section).to_contain_text("operator began the run: wwid-mismatch-replace.")
    expect(section).to_contain_text("members first seen, ONLINE")
    assert faults(operator) == []


def test_the_narrative_is_written_and_a_second_editor_loses_nothing(operator, visit):
    operator.page.get_by_role("link", name="Edit the narrative").click()
    assert faults(operator) == []
    second = visit("approver")
    second.page.goto(operator.page.url)
    write(operator, happened="A **disk** left; 磁盘 │ └─", actions="- @ann labels the bays")
    expect(operator.page.get_by_text("Version 1, by operator")).to_be_visible()
    write(second, happened="Bob saw it differently.", well="Nobody used -f.")
    expect(second.page.get_by_role("alert").first).to_contain_text("operator saved version 1 while you were writing")
    expect(second.page.locator("#section-happened")).to_have_value("Bob saw it differently.")
    second.complaints.clear()  # the browser's console names the 409
    assert faults(second) == []
    write(second, happened="A **disk** left. Bob saw it differently.")
    main = operator.page.get_by_role("main")
    operator.page.reload()
    expect(main).to_contain_text("Bob saw it differently.")
    expect(main).to_contain_text("Nobody used -f.")
    expect(main).to_contain_text("@ann labels the bays")


def test_each_copy_opens(operator):
    assert copy(operator, "PDF").startswith(b"%PDF-")
    assert json.loads(copy(operator, "JSON"))["narrative"]["version"] == "2"
    assert copy(operator, "Markdown").startswith(b"# Postmortem: A bay swapped at night")
    assert copy(operator, "Audit trail of run 1").startswith(b"PK")


def test_evidence_of_the_timeline_shows_its_lines(operator):
    operator.page.get_by_role("region", name="Timeline").first.get_by_role("link", name="event").first.click()
    assert faults(operator) == []
    operator.page.go_back()
    section = operator.page.get_by_role("region", name="Timeline").first
    section.locator('a[href*="/ledger/evidence/"]').first.click()
    expect(operator.heading("Origin")).to_be_visible()
    assert faults(operator) == []


def test_the_ledger_is_searched_by_a_disk(operator):
    operator.page.goto("/ledger/")
    operator.page.get_by_label("Person").fill("operator")
    operator.page.get_by_label("What happened (kind").fill("postmortem.")
    operator.press("Search")
    expect(operator.page.get_by_role("region", name="Events")).to_contain_text("operator began a postmortem: A bay swapped at night.")
    assert faults(operator) == []


def test_a_paste_is_answered_with_its_own_lines(operator):
    operator.page.goto("/triage/")
    operator.page.get_by_label("Outputs").fill(PASTE)
    operator.press("What is wrong?")
    expect(operator.page.locator("tr.hit").first).to_contain_text("REMOVED")
    expect(operator.heading("To know more")).to_be_visible()
    assert faults(operator) == []
    operator.press("What is wrong? And keep it as evidence")
    expect(operator.page.get_by_role("status").filter(has_text="Kept as evidence")).to_be_visible()


def test_all_of_it_without_javascript(plain):
    begin(plain, "Written in a plain browser")
    plain.page.get_by_role("link", name="Edit the narrative").click()
    write(plain, happened="It works.")
    expect(plain.page.get_by_text("Version 1, by operator")).to_be_visible()
    plain.page.get_by_label("Say something").fill("So it does.")
    plain.press("Comment")
    expect(plain.page.get_by_text("So it does.")).to_be_visible()
    assert copy(plain, "PDF").startswith(b"%PDF-")
    plain.page.goto("/triage/")
    plain.page.get_by_label("Outputs").fill(PASTE)
    plain.press("What is wrong?")
    expect(plain.page.locator("tr.hit").first).to_contain_text("REMOVED")
