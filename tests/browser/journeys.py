"""The ten journeys people make most, and the tests that walk each of them in a real browser, with JavaScript and without.

`test_inventory` holds that each test named here exists; docs/pages.md shows the list.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Journey:
    who: str
    what: str
    walked: tuple[str, ...]  # "module::test"; a module alone is walked as a whole
    plain: tuple[str, ...]  # the same without JavaScript


JOURNEYS = (
    Journey(
        "operator",
        "at 3 a.m. from the fleet to a lost member that is replaced, at most once, with another person's word",
        ("test_incident",),
        (
            "test_journeys::test_the_operator_comes_from_the_fleet_to_the_approval_without_javascript",
            "test_journeys::test_the_command_runs_once_without_javascript",
        ),
    ),
    Journey(
        "approver, on a phone",
        "from the number beside “Approvals” to a plan that is judged, denied and approved",
        ("test_journeys::test_the_approver_judges_on_a_phone",),
        ("test_journeys::test_the_approver_denies_on_a_phone_without_javascript",),
    ),
    Journey(
        "technician, on a phone",
        "at the rack: scan the new disk, say which bay blinks, pull, insert; a wrong pull is said at once",
        ("test_blink",),
        ("test_blink::test_the_step_at_the_rack_needs_no_javascript",),
    ),
    Journey(
        "technician without an account, on a phone",
        "one visit to the rack by a link that was scanned",
        ("test_runpage::test_a_technician_opens_the_rack_with_a_link_and_nothing_else",),
        ("test_runpage::test_the_link_works_without_javascript_and_ends_when_it_is_revoked",),
    ),
    Journey(
        "auditor",
        "what a person did: search the ledger, read the event and its evidence, take the audit trail, verify it offline",
        ("test_journeys::test_the_auditor_finds_what_a_person_did_and_verifies_it",),
        ("test_journeys::test_the_auditor_finds_what_a_person_did_and_verifies_it",),
    ),
    Journey(
        "operator",
        "find a disk by what is printed on it, and its bay in the drawn enclosure",
        ("test_journeys::test_a_disk_is_found_by_what_is_printed_on_it", "test_enclosure"),
        (
            "test_journeys::test_a_disk_is_found_by_what_is_printed_on_it",
            "test_enclosure::test_without_javascript_the_colours_and_the_vdev_are_links",
        ),
    ),
    Journey(
        "operator",
        "hand a run over at the end of the shift; the colleague says “I have it”",
        ("test_runpage::test_a_run_is_handed_over_and_back",),
        ("test_journeys::test_a_run_is_handed_over_without_javascript",),
    ),
    Journey(
        "anybody who may look",
        "rehearse the answer to an incident before it is begun",
        ("test_rehearsal::test_who_may_only_look_rehearses_the_incident_and_no_run_begins",),
        ("test_rehearsal::test_it_works_without_javascript",),
    ),
    Journey(
        "lead",
        "afterwards: the postmortem with its timeline, edited by two, and every copy of it",
        ("test_postmortem",),
        ("test_postmortem::test_all_of_it_without_javascript",),
    ),
    Journey(
        "operator",
        "paste what a node without an agent says, and read what is wrong",
        ("test_postmortem::test_a_paste_is_answered_with_its_own_lines",),
        ("test_postmortem::test_all_of_it_without_javascript",),
    ),
)
