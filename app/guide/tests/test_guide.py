"""The guide is true: its links lead somewhere, its commands and files are ones that the programs take, its pages are found."""

import json
import re
import shlex

import pytest
import yaml
from django.urls import resolve

from agents.__main__ import _parser
from agents.host import paths
from agents.operations import OPERATIONS
from agents.orders import policy
from app.accounts.rights import RIGHTS_OF
from app.guide import pages
from app.ledger.management.commands.ledger import Command as LedgerCommand
from app.nodes.demo import PEOPLE
from app.runs.tests.cast import person
from cli.commands import parser as cli_parser
from launcher.bootstrap import ROOT
from launcher.commands import COMMANDS
from workflows.runbooks import RUNBOOKS

FENCE = re.compile(r"^```(\w+)\n(.*?)^```", re.DOTALL | re.MULTILINE)
TOOLS = {
    "unzip",
    "python3",
    "pg_dump",
    "pg_restore",
    "psql",
    "python",
    "systemctl",
    "for",
    "rm",
    "apt",
    "curl",
    "export",
}  # the drill runs those of PostgreSQL
PLACES = {"TOKEN": "t", "FINGERPRINT": "0" * 64}


def text(slug):
    return (pages.FOLDER / f"{slug}.md").read_text("utf-8")


def blocks(kind):
    """(page, block) for every fenced block of that kind."""
    return [
        pytest.param(slug, body, id=f"{slug}-{number}")
        for slug in pages.PAGES
        for number, (made, body) in enumerate(FENCE.findall(text(slug)))
        if made == kind
    ]


def commands():
    found = [(slug.values[0], line) for slug in blocks("console") for line in slug.values[1].splitlines()]
    return [pytest.param(line, id=f"{slug}: {line[:60]}") for slug, line in found]


def test_every_file_is_a_page_and_every_page_a_file():
    assert {path.stem for path in pages.FOLDER.glob("*.md")} == set(pages.PAGES)


@pytest.mark.parametrize("line", commands())
def test_a_command_is_one_that_its_program_takes(line):
    assert line.startswith("$ "), "a console block holds what is typed, and nothing else"
    words = [PLACES.get(word, word) for word in shlex.split(line[2:]) if "=/" not in word]
    words = words[1:] if words[0] == "sudo" else words
    if words[0] == "./run":
        assert len(words) == 1 or words[1] in COMMANDS or words[1].startswith("--")
        if words[1:2] == ["manage"]:
            managed(words[2:])
    elif words[:2] == ["python", "manage.py"]:
        managed(words[2:])
    elif words[0] == "slotlight-agent" or words[:2] == ["python3", "slotlight-agent.pyz"]:
        _parser().parse_args(words[1 if words[0] == "slotlight-agent" else 2 :])
    elif words[0] == "slotlight":
        cli_parser().parse_args(words[1:])
    elif words[:2] == ["docker", "compose"]:
        composed(words[2:])
    else:
        assert words[0] in TOOLS


def managed(words):
    if words[0] == "ledger":
        LedgerCommand().create_parser("manage.py", "ledger").parse_args(words[1:])
    else:
        assert words[0] in {"createsuperuser", "migrate"} or list(ROOT.glob(f"app/*/management/commands/{words[0]}.py"))


def composed(words):
    services = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]
    named = {word.partition(":")[0] for word in words} & set(services)
    assert words[0] in {"up", "build"} or named


@pytest.mark.parametrize(("slug", "body"), [one for one in blocks("json") if "operations" in json.loads(one.values[1])])
def test_a_policy_file_is_one_the_agent_understands(slug, body, tmp_path):
    path = tmp_path / "policy.json"
    path.write_text(body)
    path.chmod(0o644)
    policy_read = policy.load(str(path))
    assert policy_read.why == f"{path} says so."
    assert (policy_read.mode, list(policy_read.operations)) == (json.loads(body)["mode"], json.loads(body)["operations"])
    assert set(policy_read.operations) <= {name for name, module in OPERATIONS.items() if module.EFFECT != "pure"}


def table(slug, head):
    """The first column of the table under this heading."""
    part = text(slug).partition(f"## {head}\n")[2].partition("\n## ")[0]
    return re.findall(r"^\| `?([a-z_-]+)`? \|", part, re.MULTILINE)


def test_the_policy_page_names_every_field_and_every_operation(tmp_path):
    fields = table("policy-file", "Fields")[1:]
    path = tmp_path / "policy.json"
    path.write_text('{"mode": "observe", "nonsense": 1}')
    assert all(field in policy.load(str(path)).why for field in fields)
    assert len(fields) == len(
        policy.load(str(path)).why.partition("may hold ")[2].partition(", and nothing")[0].replace(" and ", ", ").split(", ")
    )
    assert table("policy-file", "Operations")[1:] == sorted(name for name, module in OPERATIONS.items() if module.EFFECT != "pure")


def test_the_roles_are_those_there_are():
    assert table("start", "Roles")[1:] == [str(role) for role in RIGHTS_OF]


def test_the_demos_people_are_those_there_are():
    people = text("start").partition("a sign-in for each of ")[2].partition(".")[0]
    assert re.findall(r"`([a-z]+)`", people) == list(PEOPLE)


def test_the_runbooks_are_those_there_are():
    found = re.findall(r"^- \[(.+)\]\(\.\./runbooks/(.+)\.md\)$", text("runbooks"), re.MULTILINE)
    assert [(slug, title) for title, slug in found] == [(slug, book.title) for slug, book in RUNBOOKS.items()]


def test_every_setting_it_names_is_read_somewhere():
    named = {name for slug in pages.PAGES for name in re.findall(r"`(SLOTLIGHT_[A-Z_]+)", text(slug))}
    code = "".join(
        path.read_text() for folder in ("app", "launcher") for path in (ROOT / folder).rglob("*.*") if path.suffix in (".py", ".sql")
    )
    code += (ROOT / "docker-compose.yml").read_text()
    assert not {name for name in named if name not in code}


@pytest.mark.parametrize("slug", pages.PAGES)
def test_its_links_lead_somewhere(slug):
    page = pages.pages()[slug]
    anchors = {one.slug: {section.anchor for section in one.sections} for one in pages.pages().values()}
    for href in re.findall(r'href="([^"]+)"', page.html):
        if href.startswith("/"):
            path, _, anchor = href.partition("#")
            found = resolve(path)
            assert found.url_name != "guide-page" or found.kwargs["slug"] in anchors
            assert not anchor or anchor in anchors[found.kwargs["slug"]], href
            assert found.url_name != "runbook" or found.kwargs["slug"] in RUNBOOKS
        else:
            assert href.startswith(("https://", "#")), href


def test_nothing_in_a_page_is_a_script():
    page = pages.pages()["start"]
    assert "<script" not in page.html
    assert pages.MarkdownIt("commonmark", {"html": False}).render("<script>x</script>").startswith("<p>&lt;script")


@pytest.mark.django_db
@pytest.mark.parametrize("slug", ["", *(f"{slug}/" for slug in pages.PAGES)])
def test_a_page_is_shown_to_whoever_is_signed_in(client, slug):
    client.force_login(person("vera", "viewer"))
    answer = client.get(f"/docs/{slug}")
    assert answer.status_code == 200
    assert answer.content.decode().count("<h1") == 1


@pytest.mark.django_db
def test_it_is_searched(client):
    client.force_login(person("vera", "viewer"))
    found = client.get("/docs/", {"q": "witness accept"}).content.decode()
    assert "/docs/unknown-and-locks/#an-agent-holds-itself-back" in found
    nothing = client.get("/docs/", {"q": "<b>zzz"}).content.decode()
    assert "&lt;b&gt;zzz" in nothing
    assert "Nothing has all these words." in nothing
    assert client.get("/docs/no-such-page/").status_code == 404


def test_what_an_install_put_in_place_is_what_the_guide_removes():
    removed = re.search(r"^\$ sudo rm -f (.*)$", text("add-a-node"), re.MULTILINE)[1].split()
    assert set(removed) == {paths.UNIT, paths.RELAY_UNIT, paths.PROGRAM, paths.ZED_HOOK}
