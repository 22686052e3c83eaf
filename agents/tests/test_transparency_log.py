"""Merkle proofs against a tree written here a second time, straight from the definitions of RFC 6962; notes against a real openssl."""

import base64
import random
from hashlib import sha256

import pytest
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from agents.host.host import LocalHost, Ran
from agents.trust import transparency_log
from agents.trust.transparency_log import BadNote, BadProof, NotChecked, verify_consistency, verify_inclusion

LEAVES = [sha256(b"\x00" + bytes([n])).digest() for n in range(65)]


def mth(leaves):
    """RFC 6962, 2.1."""
    if len(leaves) < 2:
        return leaves[0] if leaves else sha256(b"").digest()
    k = 1
    while k * 2 < len(leaves):
        k *= 2
    return sha256(b"\x01" + mth(leaves[:k]) + mth(leaves[k:])).digest()


def halves(leaves):
    k = 1
    while k * 2 < len(leaves):
        k *= 2
    return k, leaves[:k], leaves[k:]


def audit_path(m, leaves):
    """RFC 6962, 2.1.1."""
    if len(leaves) == 1:
        return []
    k, left, right = halves(leaves)
    return [*audit_path(m, left), mth(right)] if m < k else [*audit_path(m - k, right), mth(left)]


def subproof(m, leaves, whole=True):
    """RFC 6962, 2.1.2."""
    if m == len(leaves):
        return [] if whole else [mth(leaves)]
    k, left, right = halves(leaves)
    return [*subproof(m, left, whole), mth(right)] if m <= k else [*subproof(m - k, right, False), mth(left)]


ROOTS = [mth(LEAVES[:n]) for n in range(66)]


def test_it_hashes_the_published_trees():
    """The roots of the Certificate Transparency reference tree, sizes 1, 2, 3, 5 and 8."""
    entries = ["", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f"]
    leaves = [transparency_log.leaf_hash(bytes.fromhex(entry)) for entry in entries]
    assert mth(leaves[:1]).hex() == "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d"
    assert mth(leaves[:2]).hex() == "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125"
    assert mth(leaves[:3]).hex() == "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77"
    assert mth(leaves[:5]).hex() == "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4"
    assert mth(leaves).hex() == "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328"
    assert verify_inclusion(leaves[2], 2, 5, audit_path(2, leaves[:5]), mth(leaves[:5]))


def test_it_takes_every_true_inclusion_and_no_neighbour():
    taken = 0
    for size in range(1, 65):
        for index in range(size):
            path = audit_path(index, LEAVES[:size])
            assert verify_inclusion(LEAVES[index], index, size, path, ROOTS[size])
            taken += 1
            assert not verify_inclusion(LEAVES[index], (index + 1) % (size + 1), size, path, ROOTS[size])
            assert not verify_inclusion(LEAVES[index + 1], index, size, path, ROOTS[size])
            assert not verify_inclusion(LEAVES[index], index, size, [*path, LEAVES[0]], ROOTS[size])
            assert not path or not verify_inclusion(LEAVES[index], index, size, path[:-1], ROOTS[size])
    assert taken == 64 * 65 // 2


def test_it_takes_every_true_consistency_and_no_other():
    taken = 0
    for new in range(1, 65):
        for old in range(1, new + 1):
            path = subproof(old, LEAVES[:new])
            assert verify_consistency(old, ROOTS[old], new, ROOTS[new], path)
            taken += 1
            other = sha256(ROOTS[old]).digest()
            assert not verify_consistency(old, other, new, ROOTS[new], path)
            assert not verify_consistency(old, ROOTS[old], new, other, path)
            assert not verify_consistency(old, ROOTS[old], new, ROOTS[new], [*path, other])
            assert not path or not verify_consistency(old, ROOTS[old], new, ROOTS[new], path[:-1])
            assert old == new or not verify_consistency(new, ROOTS[new], old, ROOTS[old], path)
    assert taken == 64 * 65 // 2


def test_a_proof_of_another_length_proves_no_size():
    """Sizes whose proofs have one length are told apart by the root in the signed note; all others by the proof itself."""
    lengths = {(old, new): len(subproof(old, LEAVES[:new])) for new in range(2, 20) for old in range(1, new)}
    refused = 0
    for (old, new), length in lengths.items():
        path = subproof(old, LEAVES[:new])
        for claimed in range(old + 1, 20):
            if lengths[old, claimed] != length:
                assert not verify_consistency(old, ROOTS[old], claimed, ROOTS[new], path), (old, new, claimed)
                refused += 1
    assert refused > 800
    for size in range(1, 20):
        for index in range(size):
            path = audit_path(index, LEAVES[:size])
            for claimed in range(index + 1, 20):
                if len(audit_path(index, LEAVES[:claimed])) != len(path):
                    assert not verify_inclusion(LEAVES[index], index, claimed, path, ROOTS[size])


def test_it_refuses_every_flipped_bit():
    path = subproof(21, LEAVES[:50])
    for number in range(len(path)):
        for bit in range(256):
            flipped = (int.from_bytes(path[number], "big") ^ 1 << bit).to_bytes(32, "big")
            assert not verify_consistency(21, ROOTS[21], 50, ROOTS[50], [*path[:number], flipped, *path[number + 1 :]])


def test_no_proof_makes_it_raise():
    rng = random.Random(1)
    for _ in range(3000):
        path = [rng.randbytes(32) for _ in range(rng.randrange(9))]
        sizes = [rng.randrange(-2, 70) for _ in range(2)]
        assert not verify_inclusion(LEAVES[0], *sizes, path, ROOTS[7])
        assert not verify_consistency(sizes[0], ROOTS[3], sizes[1], ROOTS[7], path)


def test_a_path_that_goes_on_above_the_root_proves_nothing():
    """Not even if both roots are those of the higher tree: the sizes are what the checkpoints say."""
    above = sha256(b"above").digest()
    higher = {size: sha256(b"\x01" + above + ROOTS[size]).digest() for size in (3, 4)}
    assert not verify_consistency(3, higher[3], 4, higher[4], [*subproof(3, LEAVES[:4]), above])
    assert not verify_inclusion(LEAVES[3], 3, 4, [*audit_path(3, LEAVES[:4]), above], higher[4])


@pytest.mark.parametrize("value", [None, "", {}, ["x"], [1], ["AB" * 32], ["ab" * 33], ["ab" * 32] * 65, ["ab" * 32, "x"]])
def test_a_path_of_another_form_is_none(value):
    assert transparency_log.read_path(value) is None


def test_a_path_is_as_long_as_the_largest_tree_needs():
    assert len(transparency_log.read_path(["ab" * 32] * transparency_log.PATH_MAX)) == 64


# --- notes

NAME = "slotlight/ledger"
HOST = LocalHost()


class Signer:
    def __init__(self):
        self.ledger, self.order = Ed25519PrivateKey.generate(), ec.generate_private_key(ec.SECP256R1())
        public = self.order.public_key()
        form = serialization.PublicFormat.SubjectPublicKeyInfo
        self.portal_key = public.public_bytes(serialization.Encoding.PEM, form).decode()
        self.spki = public.public_bytes(serialization.Encoding.DER, form)
        key = b"\x01" + self.ledger.public_key().public_bytes_raw()
        self.id = sha256(NAME.encode() + b"\n" + key).digest()[:4]
        self.log_key = f"{NAME}+{self.id.hex()}+{base64.b64encode(key).decode()}"

    def lines(self, text):
        ed = base64.b64encode(self.id + self.ledger.sign(text)).decode()
        p256 = base64.b64encode(sha256(self.spki).digest()[:4] + self.order.sign(text, ec.ECDSA(hashes.SHA256()))).decode()
        return [f"\u2014 {NAME} {ed}\n", f"\u2014 {NAME}/p256 {p256}\n"]

    def note(self, size, root, name=NAME):
        text = f"{name}\n{size}\n{base64.b64encode(root).decode()}\n"
        return text + "\n" + "".join(self.lines(text.encode()))


@pytest.fixture(scope="module")
def signer():
    return Signer()


class WithoutOpenssl3(LocalHost):
    """What RHEL 8 answers: its openssl knows `dgst`, and not `-rawin`."""

    def run(self, argv, timeout_seconds):
        if "-rawin" in argv:
            return Ran(tuple(argv), 1, b"", b"pkeyutl: Unrecognized flag rawin\npkeyutl: Use -help for summary.\n", 0.0)
        return super().run(argv, timeout_seconds)


class WithoutOpenssl(LocalHost):
    def run(self, argv, timeout_seconds):
        return Ran(tuple(argv), None, b"", b"", 0.0, "not found")


@pytest.mark.parametrize("host", [HOST, WithoutOpenssl3()], ids=["openssl 3", "openssl 1.1"])
def test_it_takes_a_signed_note(signer, host):
    note = transparency_log.verify_note(host, signer.note(7, ROOTS[7]), signer.log_key, signer.portal_key)
    assert (note.origin, note.size, note.root) == (NAME, 7, ROOTS[7])


@pytest.mark.parametrize("host", [HOST, WithoutOpenssl3()], ids=["openssl 3", "openssl 1.1"])
def test_it_refuses_a_note_about_something_else(signer, host):
    honest = signer.note(7, ROOTS[7])
    with pytest.raises(BadNote, match="is false") as refused:
        transparency_log.verify_note(host, honest.replace("\n7\n", "\n8\n", 1), signer.log_key, signer.portal_key)
    assert not isinstance(refused.value, NotChecked)


@pytest.mark.parametrize("line", [0, 1])
def test_one_false_signature_is_enough_to_refuse(signer, line):
    text = signer.note(7, ROOTS[7]).partition("\n\n")[0] + "\n"
    lines = signer.lines(text.encode())
    lines[line] = signer.lines(b"other\n")[line]
    with pytest.raises(BadNote, match="is false"):
        transparency_log.verify_note(HOST, f"{text}\n{''.join(lines)}", signer.log_key, signer.portal_key)


def test_a_malformed_ecdsa_signature_is_false_not_unknown(signer):
    text = signer.note(7, ROOTS[7]).partition("\n\n")[0] + "\n"
    bad = base64.b64encode(sha256(signer.spki).digest()[:4] + b"\x30\x03\x02\x01").decode()
    with pytest.raises(BadNote, match="is false"):
        transparency_log.verify_note(WithoutOpenssl3(), f"{text}\n\u2014 {NAME}/p256 {bad}\n", signer.log_key, signer.portal_key)


def test_it_does_not_believe_what_it_cannot_check(signer):
    note = signer.note(7, ROOTS[7])
    with pytest.raises(NotChecked, match="not found"):
        transparency_log.verify_note(WithoutOpenssl(), note, signer.log_key, signer.portal_key)
    with pytest.raises(NotChecked, match="Unrecognized flag"):
        transparency_log.verify_note(WithoutOpenssl3(), note, signer.log_key)
    with pytest.raises(NotChecked, match="not signed by the key"):
        transparency_log.verify_note(HOST, Signer().note(7, ROOTS[7]), signer.log_key, signer.portal_key)


class Prints(LocalHost):
    """An openssl that says this and no more."""

    def __init__(self, exit_code, output):
        self.output = Ran(("openssl",), exit_code, output, b"", 0.0, "timeout" if exit_code is None else "")

    def run(self, argv, timeout_seconds):
        return self.output


@pytest.mark.parametrize(
    ("exit_code", "output", "verdict"),
    [
        (0, b"Verified OK\n", "good"),
        (1, b"Verification failure\n", "bad"),
        (1, b"Error verifying data\n", "bad"),
        (0, b"Verification failure\n", "unknown"),
        (None, b"Verification failure\n", "unknown"),
        (None, b"Verified OK\n", "unknown"),
        (1, b"Verified OK\n", "unknown"),
        (0, b"", "unknown"),
        (1, b"no such command\n", "unknown"),
    ],
)
def test_openssl_is_believed_only_when_words_and_exit_code_agree(exit_code, output, verdict):
    assert transparency_log.ecdsa_verdict(Prints(exit_code, output), b"data", b"signature", "pem")[0] == verdict


# --- changes of key


def change(old, which, new):
    """What the old keys say of their successor."""
    raw = new.spki if which == "order" else base64.b64decode(new.log_key.split("+", 2)[2])[1:]
    text = f"{NAME}/keys\n{which}\n{base64.b64encode(raw).decode()}\n"
    return text + "\n" + "".join(old.lines(text.encode()))


def follow(signer, *statements):
    return transparency_log.follow_keys(HOST, statements, signer.log_key, signer.portal_key)


def test_it_follows_each_key_to_its_successor(signer):
    new = Signer()
    assert follow(signer) == (signer.log_key, signer.portal_key)
    assert follow(signer, change(signer, "ledger", new)) == (new.log_key, signer.portal_key)
    log_key, portal_key = follow(signer, change(signer, "order", new))
    assert log_key == signer.log_key
    assert transparency_log._der(portal_key) == new.spki


def test_it_passes_over_what_keys_before_its_own_signed(signer):
    older, new = Signer(), Signer()
    assert follow(signer, change(older, "ledger", signer), change(signer, "ledger", new)) == (new.log_key, signer.portal_key)


@pytest.mark.parametrize(
    "mangle",
    [
        lambda reported: "",
        lambda reported: "x\n\n",
        lambda text: text.replace("/keys\n", "/other\n"),
        lambda text: text.replace("\nledger\n", "\nnodes\n"),
        lambda text: text.replace("\nledger\n", "\nledger\n!"),
        lambda text: text.replace("slotlight", "elsewhere"),
    ],
)
def test_a_change_of_another_form_is_refused(signer, mangle):
    with pytest.raises(BadNote, match="change of key is not a signed note"):
        follow(signer, mangle(change(signer, "ledger", Signer())))


def test_a_change_that_says_another_key_than_was_signed_is_refused(signer):
    text = change(signer, "ledger", Signer()).replace("\nledger\n", "\norder\n")
    with pytest.raises(BadNote, match="is false"):
        follow(signer, text)


def test_a_ledger_key_it_does_not_know_yet_is_carried_by_the_order_key(signer):
    """A rotated key: the other, pinned one still signs."""
    text = signer.note(7, ROOTS[7]).partition("\n\n")[0] + "\n"
    lines = [Signer().lines(text.encode())[0], signer.lines(text.encode())[1]]
    assert transparency_log.verify_note(HOST, f"{text}\n{''.join(lines)}", signer.log_key, signer.portal_key).size == 7


@pytest.mark.parametrize(
    "mangle",
    [
        lambda note: "",
        lambda note: note[:-1],
        lambda note: note + "more\n",
        lambda note: note.replace("\n\n", "\n"),
        lambda note: note.replace("\n7\n", "\n07\n"),
        lambda note: note.replace("\n7\n", "\n-7\n"),
        lambda note: note.replace("\n7\n", "\n7\n7\n"),
        lambda note: note.replace(NAME, "other/log"),
        lambda note: note.replace("=\n\n", "\n\n"),
        lambda note: note.replace("\u2014", "-"),
        lambda note: note.replace("p256 ", "p256 \x1d"),
        lambda note: note * 40,
    ],
)
def test_a_note_of_another_form_is_refused(signer, mangle):
    with pytest.raises(BadNote):
        transparency_log.read_note(mangle(signer.note(7, ROOTS[7])), signer.log_key)


@pytest.mark.parametrize(("longer", "is_one"), [(0, True), (1, False)])
def test_a_note_is_read_up_to_its_limit(signer, longer, is_one):
    honest = signer.note(7, ROOTS[7])
    stranger = "\u2014 witness AAAAAAA=\n"
    many = honest + stranger * ((transparency_log.NOTE_BYTES_MAX - len(honest)) // len(stranger) - 1)
    note = many + f"\u2014 {'w' * (transparency_log.NOTE_BYTES_MAX - len(many) - 12 + longer)} AAAAAAA=\n"
    assert len(note) == transparency_log.NOTE_BYTES_MAX + longer
    if is_one:
        assert transparency_log.read_note(note, signer.log_key).size == 7
    else:
        with pytest.raises(BadNote, match="not a signed note"):
            transparency_log.read_note(note, signer.log_key)


def test_a_signature_is_a_key_id_and_something_signed(signer):
    honest = signer.note(7, ROOTS[7])
    assert transparency_log.read_note(f"{honest}\u2014 witness AAAAAAA=\n", signer.log_key).signatures[-1] == ("witness", bytes(4), b"\0")
    with pytest.raises(BadNote, match="signature of witness"):
        transparency_log.read_note(f"{honest}\u2014 witness AAAAAA==\n", signer.log_key)


@pytest.mark.parametrize(("name", "key"), [("", b"\x01" + bytes(32)), (NAME, b"\x01" + bytes(31)), (NAME, b"\x02" + bytes(32))])
def test_a_ledger_key_has_a_name_and_is_as_long_as_ed25519_is(name, key):
    with pytest.raises(BadNote, match="damaged"):
        transparency_log.read_log_key(f"{name}+{transparency_log.key_id(name, key).hex()}+{base64.b64encode(key).decode()}")


def test_openssl_is_told_what_to_hash_with():
    """Its default has not always been SHA-256."""
    asked = []

    class Asked(LocalHost):
        def run(self, argv, timeout_seconds):
            asked.append(argv)
            return Ran(tuple(argv), 0, b"Verified OK\n", b"", 0.0)

    transparency_log.ecdsa_verdict(Asked(), b"data", b"signature", "pem")
    assert "-sha256" in asked[0]


def test_a_damaged_key_is_named(signer):
    for log_key in ("", "x", f"{NAME}+00000000+AAAA", signer.log_key[:-4], signer.log_key.replace("slot", "slit")):
        with pytest.raises(BadNote, match="damaged"):
            transparency_log.read_note(signer.note(7, ROOTS[7]), log_key)
    with pytest.raises(BadNote, match="damaged"):
        transparency_log.verify_note(HOST, signer.note(7, ROOTS[7]), signer.log_key, "no pem")


# --- events


def offered(bodies, wanted):
    leaves = [transparency_log.leaf_hash(body.encode()) for body in bodies]
    checkpoint = transparency_log.Checkpoint(NAME, len(leaves), mth(leaves), b"", ())
    return checkpoint, [
        {"body": bodies[index], "index": str(index), "path": [node.hex() for node in audit_path(index, leaves)]} for index in wanted
    ]


BODIES = [f'{{"type":"event {number}"}}' for number in range(11)]


def test_it_gives_the_proven_events_by_their_leaf():
    checkpoint, events = offered(BODIES, (3, 10))
    found = transparency_log.proven(checkpoint, events)
    assert found == {transparency_log.leaf_hash(BODIES[number].encode()).hex(): {"type": f"event {number}"} for number in (3, 10)}


@pytest.mark.parametrize(
    "change",
    [
        {"body": '{"type":"forged"}'},
        {"body": BODIES[4]},
        {"index": "4"},
        {"index": "11"},
        {"index": "-1"},
        {"index": 3},
        {"index": "x"},
        {"index": "03"},
        {"body": "no event"},
        {"body": "[" * 100_000},
        {"path": []},
        {"path": "x"},
        {"body": 1},
        {"more": ""},
    ],
)
def test_it_proves_nothing_else(change):
    checkpoint, events = offered(BODIES, (3,))
    with pytest.raises(BadProof):
        transparency_log.proven(checkpoint, [events[0] | change])


@pytest.mark.parametrize("value", [None, {}, [None], ["x"], [[]]])
def test_it_proves_nothing_from_another_form(value):
    with pytest.raises(BadProof):
        transparency_log.proven(offered(BODIES, ())[0], value)
