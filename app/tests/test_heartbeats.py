"""A heartbeat says that all is as before. It counts for a key that is believed, and changes nothing for any other."""

import time

from agents.domain.times import iso
from app.fleet.models import Node
from app.fleet.tests import cast
from app.nodes.tests.test_door import put_back_after_revoking

REPORTS = "/agent/v1/reports"


def test_the_heartbeat_of_a_revoked_key_that_was_put_back_makes_no_node_look_heard(agent):
    status, answer = agent.ask(REPORTS, cast.payload("oss01", {}) | {"taken_at": iso(time.time())})
    assert status == 200, answer
    beat = cast.heartbeat("oss01", {}) | {"taken_at": iso(time.time())}
    assert agent.ask(REPORTS, beat)[1]["missing"] == [], "an honest one is kept"
    put_back_after_revoking()
    last_report_at = Node.objects.get().last_report_at
    status, answer = agent.ask(REPORTS, cast.heartbeat("oss01", {}) | {"taken_at": iso(time.time())})
    assert (status, "an old one that was put back" in answer["reason"]) == (401, True), answer
    assert Node.objects.get().last_report_at == last_report_at
