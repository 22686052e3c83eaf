"""The proxy before the lab's portal passes on what it is given, with one header more."""

import pytest

from lab.front import Requests

TWO = b"POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n0123\r\n\r\n89GET /b HTTP/1.1\r\nHost: x\r\n\r\n"
WANTED = (
    b"POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\nX-Forwarded-Proto: https\r\n\r\n0123\r\n\r\n89"
    b"GET /b HTTP/1.1\r\nHost: x\r\nX-Forwarded-Proto: https\r\n\r\n"
)


@pytest.mark.parametrize("size", [1, 3, 17, 1000])
def test_each_request_gets_the_header_however_it_is_cut_into_pieces(size):
    requests = Requests()
    assert b"".join(requests.fed(TWO[at : at + size]) for at in range(0, len(TWO), size)) == WANTED
