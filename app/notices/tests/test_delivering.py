"""Notices over real sockets, to receivers that take them and receivers that do not."""

import email
import io
import json
import logging
import socket
import ssl
import threading
from datetime import timedelta

import pytest
from django.utils import timezone

from app.ledger.models import LedgerEvent
from app.notices import delivering, sending
from app.notices.models import Notice

pytestmark = pytest.mark.django_db
SECRETS = ("hunter2-secret", "T0KEN-secret")


@pytest.fixture
def notice(channel):
    def make(url, **fields):
        now = timezone.now()
        return Notice.objects.create(
            channel=channel(url),
            kind="test",
            key=f"k{url}",
            severity="act",
            title="oss01 is silent",
            body="Since then.",
            path="/nodes/oss01/",
            at=now,
            next_at=now,
            **fields,
        )

    return make


def ended(notice):
    delivering.deliver(notice.pk)
    notice.refresh_from_db()
    return notice


def test_it_arrives_with_what_where_and_a_link(receiver, notice, settings):
    settings.PORTAL_URL = "https://slotlight.example"
    done = ended(notice(receiver.url))
    [got] = [json.loads(text) for text in receiver.got]
    assert (done.state, done.attempts) == ("sent", 1)
    assert got["title"] == "[act now] oss01 is silent"
    assert got["message"] == f"Since then.\n\nhttps://slotlight.example/nodes/oss01/\nSlotlight notice {done.pk}"
    assert got["type"] == "failure"


def test_it_arrives_by_mail(notice):
    letters = Post()
    done = ended(
        notice(f"mailto://127.0.0.1:{letters.port}/?from=slotlight@example.org&to=oncall@example.org&smtp=127.0.0.1&mode=insecure")
    )
    assert done.state == "sent", done.reason
    assert "Subject: [act now] oss01 is silent" in letters.text
    assert "oncall@example.org" in letters.text


def test_markup_in_a_title_is_no_markup_in_a_mail(notice):
    letters, made = Post(), notice
    row = made(f"mailto://127.0.0.1:{letters.port}/?from=a@example.org&to=b@example.org&smtp=127.0.0.1&mode=insecure")
    row.body = "<script>alert(1)</script>"
    row.save()
    assert ended(row).state == "sent"
    assert "<script>" not in letters.text.partition("text/html")[2]


def test_the_mails_of_one_key_are_one_thread(channel, situation, spread, close):
    """Each has an id of its own; all refer to the one of the key."""
    heads = []
    one = channel("mailto://127.0.0.1:9/?from=a@example.org&to=b@example.org&smtp=127.0.0.1&mode=insecure")

    def letter():
        post = Post()
        url = f"mailto://127.0.0.1:{post.port}/?from=a@example.org&to=b@example.org&smtp=127.0.0.1&mode=insecure"
        one.url = sending.seal(url, one.mark)
        one.save()
        spread()
        [pk] = delivering.due(timezone.now())
        delivering.deliver(pk)
        heads.append(email.message_from_string(post.text.replace("\r\n", "\n")))

    row = situation("one")
    letter()
    close(row)
    letter()
    situation("other")
    letter()
    first, last, another = heads
    assert last["Subject"] == "Over: one is wrong"
    assert first["References"] == first["In-Reply-To"] == last["References"] == last["In-Reply-To"]
    assert first["References"].endswith("@slotlight.invalid>")
    assert another["References"] != first["References"]
    assert len({one["Message-ID"] for one in heads}) == 3
    assert [len(one.get_all("Message-ID")) for one in heads] == [1, 1, 1]


class Post:
    """A mail server that takes one letter."""

    def __init__(self):
        self.door = socket.create_server(("127.0.0.1", 0))
        self.port, self.text = self.door.getsockname()[1], ""
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def serve(self):
        caller, _ = self.door.accept()
        with caller, caller.makefile("rw", newline="\r\n", encoding="utf-8") as wire:
            self.say(wire, "220 here")
            for line in wire:
                if line.upper().startswith("DATA"):
                    self.say(wire, "354 go on")
                    while (received := wire.readline()).rstrip() != ".":
                        self.text += received
                self.say(wire, "221 bye" if line.upper().startswith("QUIT") else "250 ok")

    @staticmethod
    def say(wire, text):
        wire.write(text + "\n")
        wire.flush()


@pytest.mark.parametrize(
    ("code", "why"),
    [
        (500, "It failed itself (5xx)."),
        (404, "The address does not exist there (404)."),
        (401, "It refused the sign-in in the URL. It answered 401."),
        (418, "It answered 418."),
    ],
)
def test_a_receiver_that_refuses_is_tried_again_and_said(receiver, notice, code, why):
    receiver.answers = code
    done = ended(notice(receiver.url))
    assert (done.state, done.reason) == ("waiting", why)
    assert timedelta(seconds=20) < done.next_at - timezone.now() <= timedelta(seconds=30)


def test_a_receiver_that_never_answers_is_left(receiver, notice):
    receiver.waits = 6
    assert ended(notice(receiver.url)).reason == "It did not answer in time."


def test_a_certificate_that_nobody_vouches_for_is_not_trusted(notice, tmp_path):
    from http.server import BaseHTTPRequestHandler, HTTPServer

    server = HTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(self_signed(tmp_path))
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    done = ended(notice(f"jsons://127.0.0.1:{server.server_port}/x"))
    server.shutdown()
    assert done.reason == "Its TLS certificate is not one this portal trusts."


def self_signed(folder):
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    now = timezone.now()
    made = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key()).serial_number(1)
    made = made.not_valid_before(now - timedelta(days=1)).not_valid_after(now + timedelta(days=1)).sign(key, hashes.SHA256())
    private = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    path = folder / "both.pem"
    path.write_bytes(made.public_bytes(serialization.Encoding.PEM) + private)
    return path


def test_where_nothing_listens_is_said(notice):
    with socket.create_server(("127.0.0.1", 0)) as gone:
        port = gone.getsockname()[1]
    assert ended(notice(f"json://127.0.0.1:{port}/x")).reason == "Nothing listens there: the connection was refused."


def test_it_is_given_up_in_the_open_and_the_ledger_knows(notice, receiver):
    receiver.answers = 500
    row = notice(receiver.url, attempts=len(delivering.AGAIN_SECONDS))
    done = ended(row)
    assert (done.state, done.next_at) == ("failed", None)
    body = LedgerEvent.objects.filter(type="notice.not-delivered").get().parsed["body"]
    assert body["reason"] == "It failed itself (5xx)."
    assert not any(secret in str(body) for secret in SECRETS)


def test_who_died_in_the_middle_leaves_it_for_the_next(notice, receiver):
    row = notice(receiver.url)
    assert delivering._take(row.pk, timezone.now()) is not None  # and never ends it
    delivering.deliver(row.pk)
    assert receiver.got == []
    Notice.objects.filter(pk=row.pk).update(next_at=timezone.now())  # its time is up
    assert ended(row).state == "sent"
    assert delivering.due(timezone.now()) == []


def test_one_that_kills_whoever_sends_it_is_given_up(notice, receiver):
    done = ended(notice(receiver.url, attempts=len(delivering.AGAIN_SECONDS) + 1))
    assert (done.state, receiver.got) == ("failed", [])
    assert "ended before it was done" in done.reason


def test_it_is_sent_once_however_often_it_is_rung(notice, receiver):
    row = notice(receiver.url)
    for _ in range(3):
        delivering.deliver(row.pk)
    assert len(receiver.got) == 1


@pytest.fixture
def logged():
    """All that the portal's own log would hold, at its most talkative."""
    root, text = logging.getLogger(), io.StringIO()
    handler, before = logging.StreamHandler(text), root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    yield text
    root.removeHandler(handler)
    root.setLevel(before)


def test_no_secret_reaches_log_reason_or_ledger(notice, receiver, logged):
    receiver.answers = 500
    done = ended(notice(receiver.url))
    everything = " ".join(
        [logged.getvalue(), done.reason, done.channel.service, *(bytes(e.body).decode() for e in LedgerEvent.objects.all())]
    )
    assert not any(secret in everything for secret in SECRETS)
    assert not any(secret.encode() in bytes(done.channel.url) for secret in SECRETS)


def test_a_lost_key_is_said(notice, receiver, monkeypatch, tmp_path):
    row = notice(receiver.url)
    monkeypatch.setenv("SLOTLIGHT_NODES_KEY", str(tmp_path / "other.key"))
    (tmp_path / "other.key").write_text("00" * 32)
    assert "Put the right key file back, or enter the URL again." in ended(row).reason


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("nonsense", "This is no Apprise URL."),
        ("syslog://", "reaches the portal's own machine only"),
        ("jsons://host/x?verify=no", "switches off the check of the certificate"),
    ],
)
def test_a_url_that_is_none_is_refused_without_repeating_it(url, why):
    with pytest.raises(sending.BadURL, match=why.replace("(", r"\(")) as bad:
        sending.read(url)
    assert url not in str(bad.value) or url == "syslog://"
