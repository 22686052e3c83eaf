"""The narrative: versions, two editors at once, Markdown that carries nothing in, comments, and who may."""

from html.parser import HTMLParser

import pytest
from django.contrib.auth import get_user_model
from django.urls import reverse

from app.fleet.models import Node, Situation
from app.ledger import services as ledger
from app.ledger.models import LedgerEvent
from app.postmortems import narrative, services
from app.postmortems.models import Comment, Postmortem

pytestmark = pytest.mark.django_db


@pytest.fixture
def reader(db):
    return get_user_model().objects.create_user("reader")


@pytest.fixture
def bare(ann):
    """A postmortem with nothing collected: enough to write one."""
    from django.utils import timezone

    now = timezone.now()
    fields = {"since": "", "until": "", "nodes": [], "runs": [], "timeline": [], "states": [], "clocks": [], "gaps": [], "collected_at": ""}
    data = {"meaning": "", "evidence": [], "answers": [], "subject": {}, "sure": True, "cause": ""}
    node = Node.objects.create(name="oss01")
    wrong = Situation.objects.create(key="k", slug="disk-missing", node=node, severity="act", title="Gone", data=data, opened_at=now)
    return Postmortem.objects.create(title="Bare", situation=wrong, since=now, until=now, begun_by=ann, begun_at=now, collected=fields)


def test_each_version_is_kept_with_who_wrote_it(bare, ann, bob):
    services.edit(ann, bare.pk, 0, {"happened": "A disk left."})
    services.edit(bob, bare.pk, 1, {"happened": "A disk left.", "impact": "None."})
    bare.refresh_from_db()
    assert [(v.number, v.by.username) for v in bare.versions.all()] == [(2, "bob"), (1, "ann")]
    event = LedgerEvent.objects.filter(type="postmortem.edited").order_by("-id").first()
    assert (event.actor, event.parsed["body"]["version"]) == ("bob", "2")
    assert b"None." in ledger.blob(event.parsed["evidence"][0])


def test_saving_what_stands_makes_no_version(bare, ann):
    services.edit(ann, bare.pk, 0, {"happened": "x"})
    services.edit(ann, bare.pk, 1, {"happened": "x\r\n"})
    bare.refresh_from_db()
    assert bare.version == 1


def test_two_who_write_in_different_sections_lose_nothing_and_notice_nothing(bare, ann, bob):
    services.edit(ann, bare.pk, 0, {"happened": "hers"})
    saved = services.edit(bob, bare.pk, 0, {"impact": "his"})
    assert (saved.sections["happened"], saved.sections["impact"]) == ("hers", "his")


def test_the_second_of_two_in_one_section_sees_both_and_saves_nothing(client, bare, ann, bob):
    services.edit(ann, bare.pk, 0, {"happened": "hers", "impact": "also hers"})
    client.force_login(bob)
    answer = client.post(reverse("postmortem-edit", args=[bare.pk]), {"version": "0", "happened": "his <i>", "well": "also his"})
    page = answer.content.decode()
    assert answer.status_code == 409
    assert "ann saved version 1 while you were writing" in page
    assert "his &lt;i&gt;</textarea>" in page
    assert ">hers</pre>" in page
    assert "also hers</textarea>" in page
    assert "also his</textarea>" in page
    assert 'name="version" value="1"' in page
    bare.refresh_from_db()
    assert bare.version == 1
    assert client.post(reverse("postmortem-edit", args=[bare.pk]), {"version": "1", "happened": "both"}).status_code == 302


def test_what_cannot_be_saved_stays_in_the_form(client, bare, ann, reader):
    url = reverse("postmortem-edit", args=[bare.pk])
    client.force_login(ann)
    for version in ("", "x", "7"):
        answer = client.post(url, {"version": version, "happened": "an hour of work"})
        assert answer.status_code == 409
        assert "an hour of work</textarea>" in answer.content.decode()
    client.force_login(reader)
    answer = client.post(url, {"version": "0", "happened": "an hour of work"})
    assert answer.status_code == 409
    assert "operator&#x27;s right" in answer.content.decode()
    assert client.get(url).status_code == 403


@pytest.mark.parametrize(
    "markdown",
    [
        "<script>alert(1)</script>",
        "[x](javascript:alert(1))",
        "![x](http://x/y.png)",
        '<a href="x" onclick="y">z</a>',
        "[x](data:text/html,y)",
        "<img src=x onerror=y>",
        "<style>p{}</style>",
        '[a](http://b "onmouseover=c")',
    ],
)
def test_markdown_carries_nothing_in(markdown):
    tags = Tags()
    tags.feed(narrative.html(markdown))
    assert {name for name, _ in tags.seen} <= {"p", "a", "li", "ul"}
    for name, value in (attribute for _, attributes in tags.seen for attribute in attributes):
        assert name in ("href", "rel", "title"), name
        assert name != "href" or value.startswith(("http://", "https://", "mailto:"))


class Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.seen = []

    def handle_starttag(self, tag, attrs):
        self.seen.append((tag, attrs))


def test_markdown_is_rendered_below_the_headings_of_the_page():
    made = narrative.html("# One\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n- [x](https://example.org)")
    assert "<h3>One</h3>" in made
    assert "<td>1</td>" in made
    assert '<a href="https://example.org"' in made


def test_anybody_who_may_look_may_comment(client, bare, reader):
    client.force_login(reader)
    assert client.post(reverse("postmortem-comment", args=[bare.pk]), {"text": "I saw <b>it</b>."}).status_code == 302
    page = client.get(bare.get_absolute_url()).content.decode()
    assert "I saw &lt;b&gt;it&lt;/b&gt;." in page
    assert client.post(reverse("postmortem-comment", args=[bare.pk]), {"text": "  "}).status_code == 409
    assert Comment.objects.count() == 1
    assert LedgerEvent.objects.get(type="postmortem.commented").actor == "reader"


def test_a_version_has_a_page(client, bare, ann):
    services.edit(ann, bare.pk, 0, {"happened": "**first**"})
    client.force_login(ann)
    assert "<strong>first</strong>" in client.get(reverse("postmortem-version", args=[bare.pk, 1])).content.decode()
    for number in (0, 2):
        assert client.get(reverse("postmortem-version", args=[bare.pk, number])).status_code == 404


def test_beginning_says_what_is_missing(client, ann, reader):
    client.force_login(ann)
    answer = client.post(reverse("postmortem-begin"), {"title": "x", "run": ["9", "x", "9" * 40]})
    assert answer.status_code == 409
    assert "Choose at least one run." in answer.content.decode()
    client.force_login(reader)
    assert client.post(reverse("postmortem-begin"), {"title": "x"}).status_code == 409
    page = client.get(reverse("postmortems")).content.decode()
    assert "No postmortem yet." in page
