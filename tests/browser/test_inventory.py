"""No page is left out of what is looked at, and no journey is only on paper. Needs no browser."""

import ast
from pathlib import Path
from urllib.parse import urlsplit

from django.urls import resolve

from app.core.permissions_by_route import AGENT, API, ROUTES, TOKEN
from tests.browser.inventory import slug
from tests.browser.journeys import JOURNEYS
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


def test_every_journey_is_walked_by_tests_that_exist():
    assert len(JOURNEYS) == 10
    for journey in JOURNEYS:
        assert journey.walked, journey.what
        assert journey.plain, f"without JavaScript: {journey.what}"
        for named in (*journey.walked, *journey.plain):
            module, _, test = named.partition("::")
            tree = ast.parse((Path(__file__).parent / f"{module}.py").read_text())
            found = {node.name for node in tree.body if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")}
            assert test in found or (found and not test), named
