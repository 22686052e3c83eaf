"""`docker-compose.yml`'s processes behind nginx, and behind Caddy, with the files of the guide's page and TLS of a private authority.

Where a proxy is not installed its tests are skipped, and the summary names it.
"""

import http.client
import re
import shutil
import socket
import ssl
import subprocess
import time

import pytest

from agents.packaging import zipapp
from app.core import limits
from lab.portal import NAME, PASSWORD
from lab.visitor import Visitor
from tests.compose import bare, minimal
from tests.compose.fronts import Caddy, Nginx, example
from tests.compose.stack import Stack
from tests.faults.stack import until

PERSON, AFAR, FORGED = "ann", "127.0.0.7", "203.0.113.9"
MIB = limits.MIB
READY_SECONDS = 120
PASTE = "$ zpool status\n  pool: tank\n state: ONLINE\nconfig:\n\n\tNAME        STATE     READ WRITE CKSUM\n\ttank        ONLINE       0     0     0\n\t  sda       ONLINE       0     0     0\n\nerrors: No known data errors\n"
LIES = {"X-Forwarded-For": FORGED, "Forwarded": f"for={FORGED};host=evil.example;proto=http", "X-Forwarded-Host": "evil.example"}
MORE = {"X-Forwarded-Proto": "http", "X-Forwarded-Port": "4443", "X-Real-IP": FORGED}


@pytest.fixture(scope="module")
def stack(ground, tmp_path_factory, django_db_blocker):
    """Started once for all proxies."""
    if not shutil.which("openssl"):
        pytest.skip("the private authority is made with openssl, which is not installed")
    name = "slotlight_compose"
    ground.clone(name)
    stack = Stack(ground, name, tmp_path_factory.mktemp("compose"), SLOTLIGHT_HOSTS=NAME, SLOTLIGHT_TRUSTED_PROXIES="127.0.0.1")
    try:
        stack.start()
        stack.once(
            "migrate", "manage.py", "createsuperuser", "--noinput", "--username", PERSON, "--email", "", DJANGO_SUPERUSER_PASSWORD=PASSWORD
        )
        yield stack
    finally:
        stack.stop()
        ground.drop(name)


@pytest.fixture(scope="module", params=[Nginx, Caddy], ids=lambda front: front.program)
def front(request, tmp_path_factory):
    if not request.param.is_here():
        pytest.skip(f"{request.param.program} is not installed: the portal was not tried behind it")
    stack = request.getfixturevalue("stack")  # not started in vain
    front = request.param(tmp_path_factory.mktemp(request.param.program), stack.port)
    yield front
    front.stop()


@pytest.fixture(scope="module")
def ann(front):
    """Signed in from an address that is not the proxy's, with headers that claim another one."""
    return Visitor(front, PERSON, AFAR, **{name.replace("-", "_"): value for name, value in {**LIES, **MORE}.items()})


def asks(front, method, path, body=b"", headers=()):
    """A request over TLS from AFAR: (status, headers, body)."""
    context = ssl.create_default_context(cafile=str(front.certificate))
    connection = http.client.HTTPSConnection(NAME, front.port, timeout=60)
    raw = socket.create_connection(("127.0.0.1", front.port), 60, (AFAR, 0))
    connection.sock = context.wrap_socket(raw, server_hostname=NAME)
    connection.request(method, path, body, dict(headers))
    answer = connection.getresponse()
    data = answer.read()
    connection.close()
    return answer.status, answer.headers, data


def asks_web(stack, path, source, headers):
    """The same without a proxy."""
    connection = http.client.HTTPConnection("127.0.0.1", stack.port, timeout=60, source_address=(source, 0))
    connection.request("GET", path, headers={"Host": NAME, **headers})
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return answer.status, answer.headers


@pytest.mark.parametrize("service", ["web", "worker"])
def test_the_health_check_of_the_compose_file_passes(stack, service):
    done = stack.check(service)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_part_is_ready(front):
    end = time.monotonic() + READY_SECONDS
    while (found := asks(front, "GET", "/readyz"))[0] != 200 and time.monotonic() < end:
        time.sleep(1)
    assert found[0] == 200, found[2].decode()


def test_a_certificate_of_a_private_authority_is_no_good_without_it(front):
    with pytest.raises(ssl.SSLCertVerificationError), socket.create_connection(("127.0.0.1", front.port), 60) as raw:
        ssl.create_default_context().wrap_socket(raw, server_hostname=NAME)


@pytest.mark.parametrize("front", [Nginx], indirect=True, ids=["nginx"])
def test_plain_http_leads_to_https(front):
    """Caddy does it by itself, and from port 80 only."""
    connection = http.client.HTTPConnection("127.0.0.1", front.plain, timeout=60)
    connection.request("GET", "/runs/?x=1", headers={"Host": NAME})
    answer = connection.getresponse()
    assert (answer.status, answer.headers["Location"]) == (308, f"{front.url}/runs/?x=1")
    connection.close()


def test_the_address_that_the_portal_sees_is_the_clients_own(ann):
    assert f"{AFAR} this browser" in ann.go("/account/").text
    assert FORGED not in ann.page.text


def test_cookies_are_for_https_only(front):
    cookies = asks(front, "GET", "/sign-in/")[1].get_all("Set-Cookie")
    assert cookies
    assert all("Secure" in cookie for cookie in cookies)


def test_what_claims_to_come_from_a_proxy_is_not_believed_past_it(stack):
    """Whoever reaches the port of `web` itself speaks plain HTTP, whatever it says."""
    for header in ({"X-Forwarded-Proto": "https"}, {"X-Forwarded-Proto": "https", "X-Forwarded-For": "127.0.0.1"}):
        status, headers = asks_web(stack, "/sign-in/", "127.0.0.9", header)
        assert (status, headers["Location"]) == (301, f"https://{NAME}/sign-in/")
    assert "X-Forwarded-Proto from 127.0.0.9 is not accepted" in stack.log("web")


def test_a_paste_is_read(ann):
    ann.go("/triage/")
    assert "tank" in ann.press("What is wrong?", text=PASTE).text
    assert ann.page.status == 200


@pytest.mark.parametrize(
    ("path", "most"),
    [
        ("/triage/", limits.BODIES["/triage/"]),
        ("/sign-in/", limits.PAGE_BODY_BYTES_MAX),
        ("/agent/v1/reports", limits.AGENT_BODY_BYTES_MAX),
        ("/api/v1/triage", limits.BODIES["/api/v1/triage"]),
    ],
)
def test_more_than_an_address_takes_is_answered_413_with_a_sentence(front, path, most):
    status, _, text = asks(front, "POST", path, b"x" * (most + MIB))
    assert status == 413
    assert f"This takes {most // MIB} MiB at most, and more was sent." in text.decode()


def test_what_an_address_just_takes_passes_the_proxy(front):
    """The portal reads it all, and only then says that nobody signed in."""
    largest = limits.BODIES["/api/v1/triage"]
    assert asks(front, "POST", "/api/v1/triage", b"x" * largest, {"Content-Type": "application/json"})[0] == 401


def test_nginx_takes_as_much_as_the_portal_and_says_as_much():
    most = max(limits.BODIES.values()) // MIB
    assert f"client_max_body_size {most}m;" in example("nginx")
    assert f"This takes {most} MiB at most" in example("nginx")


def test_events_are_passed_on_as_they_come(front, ann):
    context = ssl.create_default_context(cafile=str(front.certificate))
    connection = http.client.HTTPSConnection(NAME, front.port, timeout=10)
    connection.sock = context.wrap_socket(socket.create_connection(("127.0.0.1", front.port), 10), server_hostname=NAME)
    cookies = "; ".join(f"{name}={value}" for name, value in ann.cookies.items())
    connection.request("GET", "/events?topics=fleet", headers={"Cookie": cookies})
    answer = connection.getresponse()
    assert (answer.status, answer.headers["Content-Type"]) == (200, "text/event-stream")
    assert answer.readline() == b"retry: 2000\n"  # within the 10 seconds; the stream itself goes on for minutes
    connection.close()


def test_a_browsers_http_2_reaches_the_portal_under_its_own_name(front):
    if not shutil.which("curl"):
        pytest.skip("HTTP/2 is spoken by curl, which is not installed")
    where = ["--resolve", f"{NAME}:{front.port}:127.0.0.1", f"{front.url}/sign-in/"]
    argv = ["curl", "-sS", "--http2", "--cacert", str(front.certificate), "-o", "/dev/null", "-w", "%{http_version} %{http_code}", *where]
    assert subprocess.run(argv, capture_output=True, text=True, check=True).stdout == "2 200"


@pytest.mark.parametrize("way", ["as it stands", "on a bare system"])
def test_a_node_in_the_foreground_enrols_by_the_pages_line(front, ann, tmp_path, way):
    if why := bare.why_none():
        pytest.skip(why)
    is_bare = way == "on a bare system"
    node = bare.Node(tmp_path, front.certificate)
    enrols(
        front,
        ann,
        node,
        f"{front.program}-{'bare' if is_bare else 'full'}",
        "python3" if is_bare else "curl",
        "/few" if is_bare else bare.PATH,
    )


def test_a_minimal_debian_enrols_by_the_pages_line(front, ann, tmp_path):
    """With what it has of its own: neither curl nor sudo, and no authority but the one that is given."""
    if why := bare.why_none():
        pytest.skip(why)
    try:
        system = minimal.system()
    except minimal.NotMade as why:
        pytest.skip(str(why))
    node = bare.Node(tmp_path, front.certificate, system)
    has = node.types("for one in curl sudo systemctl wget; do command -v $one; done; ls /etc/ssl/certs", "/usr/sbin:/usr/bin:/sbin:/bin")[1]
    assert has.split() == [], has
    enrols(front, ann, node, f"{front.program}-minimal", "python3", "/usr/sbin:/usr/bin:/sbin:/bin")


def enrols(front, ann, node, name, begins, path):
    """By the page's line for a private authority that begins so; then its agent runs in the foreground and reports."""
    ann.go("/add-node/")
    ann.press("Make a token", name=name)
    line = next(line for line in ann.page.pre if "ca.pem" in line and line.startswith(begins))
    assert front.url in line
    code, output = node.types(line, path)
    assert code == 0, output
    assert f"{zipapp.NAME}: OK" in output
    assert re.search(rf"^{name} is enrolled\.", output, re.MULTILINE), output
    agent = node.starts("/usr/local/sbin/slotlight-agent", "run")
    try:
        until(lambda: agent.poll() is not None or node.types("slotlight-agent status")[0] == 0, "no report arrived", 180)
        assert agent.poll() is None, node.output
        assert "last contact never" not in ann.go(f"/nodes/{name}/agent/").text
        assert ann.go(f"/nodes/{name}/").status == 200
    finally:
        agent.terminate()
        assert agent.wait(30) == 0, node.output
