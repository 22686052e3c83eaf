"""The shelf as SES-3 has it, without a node: whoever reads its pages wrongly would blame the product."""

import struct

import pytest

from lab.shelf.enclosure import SELECT, Shelf
from lab.shelf.scsi import INQUIRY, RECEIVE_DIAGNOSTIC, SEND_DIAGNOSTIC, SERVICES_UNAVAILABLE, answer


@pytest.fixture
def shelf() -> Shelf:
    shelf = Shelf(0, 8, "Slot{n:02d}")
    shelf.bays[2].address, shelf.bays[2].present = 0x5000C500A65B202B, True
    return shelf


def control_page(shelf: Shelf, bay: int, **lamps: tuple[int, int]) -> bytes:
    """A control page that selects one bay: overall element, then the bays."""
    elements = [bytearray(4) for _ in range(9)]
    elements[bay][0] = SELECT
    for byte, mask in lamps.values():
        elements[bay][byte] |= mask
    body = b"".join(elements)
    return struct.pack(">BBHI", 2, 0, len(body) + 4, shelf.generation) + body


def send(shelf: Shelf, page: bytes):
    return answer([shelf], 0, bytes([SEND_DIAGNOSTIC, 0x10, 0, 0, len(page), 0]), page)


def receive(shelf: Shelf, code: int) -> bytes:
    return answer([shelf], 0, bytes([RECEIVE_DIAGNOSTIC, 1, code, 0x10, 0, 0]), b"").data


def test_it_says_that_it_is_an_enclosure(shelf):
    data = answer([shelf], 0, bytes([INQUIRY, 0, 0, 0, 96, 0]), b"").data
    assert (data[0], data[6] & 0x40, data[8:16]) == (0x0D, 0x40, b"LAB     ")


@pytest.mark.parametrize("code", [0x01, 0x02, 0x07, 0x0A])
def test_every_page_is_as_long_as_it_says(shelf, code):
    page = receive(shelf, code)
    assert page[0] == code
    assert struct.unpack_from(">H", page, 2)[0] + 4 == len(page)


def test_a_lamp_is_lit_and_read_back_at_its_own_bay(shelf):
    assert send(shelf, control_page(shelf, 3, ident=(2, 0x02))).changes == ({"bay": 3, "ident": True},)
    status = receive(shelf, 0x02)
    elements = [status[8 + 4 * n : 12 + 4 * n] for n in range(9)]
    assert [element[2] & 0x02 for element in elements] == [0, 0, 0, 2, 0, 0, 0, 0, 0]
    assert [element[0] for element in elements[1:]] == [5, 5, 1, 5, 5, 5, 5, 5]
    assert send(shelf, control_page(shelf, 3)).changes == ({"bay": 3, "ident": False},)


def test_who_is_not_selected_keeps_its_lamp(shelf):
    send(shelf, control_page(shelf, 3, ident=(2, 0x02)))
    send(shelf, control_page(shelf, 5, fault=(3, 0x20)))
    assert [bay["lit"] for bay in shelf.as_json()["bays"]] == [[], [], ["ident"], [], ["fault"], [], [], []]


def test_a_shelf_in_a_mood_lights_nothing_and_only_one_of_them_says_so(shelf):
    page = control_page(shelf, 3, ident=(2, 0x02))
    shelf.mood = "refuses"
    assert send(shelf, page).sense == SERVICES_UNAVAILABLE
    shelf.mood = "ignores"
    assert send(shelf, page).sense is None
    assert shelf.as_json()["bays"][2]["lit"] == []


def test_a_page_of_an_older_configuration_is_refused(shelf):
    page = control_page(shelf, 3, ident=(2, 0x02))
    shelf.generation += 1
    assert send(shelf, page).sense


def test_the_disk_of_a_bay_is_named_by_its_sas_address(shelf):
    page = receive(shelf, 0x0A)
    third = page[8 + 2 * 36 : 8 + 3 * 36]
    assert (third[7], struct.unpack_from(">Q", third, 20)[0]) == (3, 0x5000C500A65B202B)
