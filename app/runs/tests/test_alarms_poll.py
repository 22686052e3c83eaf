"""What stands at the head of every page is asked for again; on a page without navigation there is no badge to lay a count over."""

import re
from html import unescape

import pytest
from django.urls import reverse

from app.runs.tests.cast import walk_to

pytestmark = pytest.mark.django_db

POLL = re.compile(r'id="alarms"[^>]*hx-get="([^"]+)"')


@pytest.mark.parametrize(("name", "has_badge"), [("run", True), ("run-now", False)])
def test_the_answer_lays_a_count_over_a_badge_only_where_the_page_has_one(oss01, ann, bob, client, name, has_badge):
    run = walk_to("check", oss01, ann, bob)
    client.force_login(ann)
    page = client.get(reverse(name, args=[run.pk])).content.decode()
    assert ('id="to-judge"' in page) == has_badge
    asked = unescape(POLL.search(page)[1])
    answer = client.get(asked, headers={"HX-Request": "true"}).content.decode()
    assert ('id="to-judge"' in answer) == has_badge
    assert unescape(POLL.search(answer)[1]) == asked, "asked the same again the next time"
