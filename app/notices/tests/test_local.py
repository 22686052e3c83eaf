"""A channel leads to nobody on the portal's own machine or link, however that is written, unless the installation allows it."""

import pytest

from app.notices import sending
from app.notices.forms import ChannelForm

OWN = [
    "json://127.0.0.1/x", "json://localhost:9200/x", "json://2130706433/x", "json://[::1]/x", "json://0.0.0.0/x",
    "json://[::ffff:127.0.0.1]/x", "json://169.254.169.254/latest", "json://[fe80::1]/x", "gotifys://localhost/token",
    "mailto://u:p@example.org?smtp=127.0.0.1&to=a@example.org",
]  # fmt: skip


@pytest.mark.parametrize("url", OWN)
def test_it_is_refused(url, settings):
    settings.LOCAL_CHANNELS = False
    with pytest.raises(sending.BadURL, match="own machine or link"):
        sending.read(url)
    settings.LOCAL_CHANNELS = True
    sending.read(url)


@pytest.mark.parametrize("url", ["json://192.0.2.7/x", "json://10.1.2.3/x", "slack://T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ/#x"])
def test_the_rest_of_the_network_is_not(url, settings):
    settings.LOCAL_CHANNELS = False
    sending.read(url)


@pytest.mark.django_db
def test_the_form_says_why(settings):
    settings.LOCAL_CHANNELS = False
    form = ChannelForm({"name": "x", "severity": "act", "zone": "UTC", "url": "json://localhost/x"})
    assert not form.is_valid()
    assert "own machine" in form.errors["url"][0]
