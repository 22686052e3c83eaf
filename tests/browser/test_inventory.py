"""No page is left out of what is looked at. Needs no browser."""

from urllib.parse import urlsplit

from django.urls import resolve

from app.routes import AGENT, API, ROUTES, TOKEN
from tests.browser.inventory import slug
from tests.browser.pages import NO_PAGE, PAGES, WALKED


def test_every_address_is_looked_at_or_shows_no_page():
    opened = {resolve(urlsplit(path).path).url_name for _, path in PAGES.values()}
    for_people = {name for name, right in ROUTES.items() if right not in (AGENT, API, TOKEN) and not name.startswith("api-")}
    assert opened | WALKED | NO_PAGE == for_people
    assert not opened & WALKED
    assert not opened & NO_PAGE
    assert not WALKED & NO_PAGE


def test_every_page_has_a_name_of_its_own_for_its_picture():
    assert len({slug(title) for title in PAGES}) == len(PAGES)
