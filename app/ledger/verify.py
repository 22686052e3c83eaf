#!/usr/bin/env python3
"""Check a run exported from Slotlight, offline: python3 verify.py BUNDLE --key FINGERPRINT --run NUMBER

BUNDLE is the zip as it was exported, or the folder it was unpacked into. Use a copy of this program from a checkout of Slotlight, or the
command line (`slotlight ledger verify`), and never the one that lies in the zip: who made the zip made that one too. Needs Python 3.9 or
later; signatures are checked with the package `cryptography` where it is installed, else with `openssl` (3 or later for Ed25519).

Exit code: 0 intact, and signed by a key pinned from elsewhere; 1 broken: tampered with, or an order without the people it needs;
2 incomplete; 3 could not be established: nothing is pinned, or a signature could not be checked. 64 when there is nothing to check.
A pin is the fingerprint of the ledger's key (--key), or checkpoints of this ledger that were kept elsewhere (--kept FILE).

A bundle holds the whole run as it stood when it was exported, and this program checks each link of that claim:
  1. every line is canonical, and its leaf is SHA-256 of a zero byte and the line; of a redacted event only the leaf is there;
  2. the events are of one run, count from 1 without a gap, each names the leaf before it, and the last is the export itself;
  3. every leaf is in the Merkle tree (RFC 6962) of the checkpoint, in rising places, and the checkpoint ends with the export;
  4. the checkpoint is signed (C2SP signed note: Ed25519, and ECDSA P-256) by the keys the export names, and these are the pinned ones;
  5. the checkpoints signed while the run went on are signed too, and each continues the one before it; those kept elsewhere agree;
  6. each change of a key is in the ledger, and signed by the keys before it;
  7. every file named as evidence is there and has the named SHA-256, and no other file is;
  8. every order is signed, and what must not happen twice was approved before by another person than the one who gave it;
  9. the zip has no byte that does not follow from its files.
What it cannot see: events never written, what happened to the run after the export, and another history signed by whoever holds the
keys, unless a checkpoint kept elsewhere contradicts it.
"""

import sys

if sys.version_info < (3, 9):  # noqa: UP036 (an older Python must be able to read all of this file, to say so)
    sys.exit("verify.py needs Python 3.9 or newer, and this one is older. Run it with a newer python3.")

import argparse
import base64
import importlib.util
import re
from hashlib import sha256
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, NoReturn, Optional

# parts begin: `program` puts their text here
PARTS = ("verify_forms", "verify_zip", "verify_tree", "verify_signatures", "verify_orders")


def part(name: str) -> ModuleType:
    """Another file of this program, from beside this one and from nowhere else."""
    if __package__:
        return importlib.import_module(f"{__package__}.{name}")
    spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    if spec is None or spec.loader is None:
        raise ImportError(f"{name}.py beside {__file__} cannot be read as Python.")
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


def program() -> bytes:
    """This program as one file, as it goes into exports and into the command line."""
    here = Path(__file__)
    head, _, rest = here.read_text().partition("# parts begin")
    texts = [here.with_name(f"{name}.py").read_text().replace("from __future__ import annotations\n", "") for name in PARTS]
    return "\n\n".join([head, *texts, rest.partition("# parts end\n")[2]]).encode()


if TYPE_CHECKING:
    from app.ledger.verify_forms import digest, is_digests, number, read_json, read_path, spki_of, unbase64
    from app.ledger.verify_orders import check_orders
    from app.ledger.verify_signatures import signature_verdict
    from app.ledger.verify_tree import climbs, follows
    from app.ledger.verify_zip import FILES, read_folder, unpack
else:  # every name of every part, as in the one file
    globals().update({name: each for found in map(part, PARTS) for name, each in vars(found).items() if not name.startswith("_")})
# parts end

INTACT, TAMPERED, INCOMPLETE, UNCHECKED, NOTHING = 0, 1, 2, 3, 64
FIELDS = {"v", "type", "at", "actor", "run", "node", "run_seq", "run_prev", "evidence", "body"}
CLOSING = "run.exported"
ONE_LINE = "slotlight-checkpoint "  # how a checkpoint stands in a log of single lines
Object = dict[str, Any]  # of JSON
Event = tuple[Object, bytes]  # and its leaf


class Report:
    """What was found wrong, and what the bundle says."""

    def __init__(self) -> None:
        self.tampered: list[str] = []
        self.broken: list[str] = []
        self.incomplete: list[str] = []
        self.unchecked: list[str] = []
        self.facts: list[tuple[str, str]] = []
        self.pinned = False  # whether a key of this ledger is known from elsewhere; without that nothing is intact

    @property
    def exit_code(self) -> int:
        if self.tampered or self.broken:
            return TAMPERED
        if self.incomplete:
            return INCOMPLETE
        return INTACT if self.pinned and not self.unchecked else UNCHECKED


def read_events(raw: bytes, report: Report) -> list[tuple[Optional[Object], bytes]]:
    """(object, leaf) of each line; a line that is no event is reported and stands as (None, leaf)."""
    *lines, rest = raw.split(b"\n")
    if rest:
        report.tampered.append("events.jsonl: the last line has no end.")
    events = [read_redacted(line) or (read_event(line), sha256(b"\x00" + line).digest()) for line in lines]
    bad = [count for count, (event, _) in enumerate(events, 1) if event is None]
    report.tampered += [f"events.jsonl line {count}: this is not an event as the ledger writes it." for count in bad]
    if not lines:
        report.incomplete.append("events.jsonl: there is no event.")
    return events


def read_event(line: bytes) -> Optional[Object]:
    event = read_json(line, FIELDS)
    if event is None or not isinstance(event["body"], dict) or not is_digests(event["evidence"]):
        return None
    texts = all(isinstance(event[name], str) for name in FIELDS - {"body", "evidence"})
    return event if texts and event["v"] == "1" else None


def read_redacted(line: bytes) -> Optional[Event]:
    """What stands for an event whose body is withheld or erased: its number in the run, and its leaf."""
    parsed = read_json(line, {"redacted", "run_seq"})
    leaf = digest(parsed["redacted"]) if parsed else None
    return (parsed | {"evidence": [], "type": "", "body": {}}, leaf) if parsed and leaf and number(parsed["run_seq"]) else None


def check_order(events: list[Event], report: Report) -> None:
    """The events count from 1, each naming the leaf of the one before, all of one run, the last closing it."""
    before, expected = "", 1
    for count, (event, leaf) in enumerate(events, 1):
        where = f"events.jsonl line {count}"
        here = number(event["run_seq"])
        if "redacted" not in event and event["run"] != events[-1][0].get("run"):
            report.tampered.append(f"{where}: the event belongs to the run {event['run']}.")
        elif here > expected:
            report.incomplete.append(f"{where}: event {expected} of the run is missing; event {here} follows.")
        elif here < expected:
            report.tampered.append(f"{where}: event {event['run_seq']} of the run stands where event {expected} belongs.")
        elif event.get("run_prev", before) != before:
            report.tampered.append(f"{where}: event {here} does not follow the event before it.")
        before, expected = leaf.hex(), here + 1
    withheld = [event["redacted"] for event, _ in events if "redacted" in event]
    recorded = events[-1][0]["body"].get("withheld")
    if events[-1][0]["type"] != CLOSING:
        report.incomplete.append(f"events.jsonl: the last event is not the export. Whatever came after event {expected - 1} is missing.")
    elif withheld != recorded:
        report.incomplete.append("events.jsonl: other events are redacted than the export lists. They were taken out after it.")
    report.facts += [("redacted", f"event {event['run_seq']} of the run; its leaf stands") for event, _ in events if "redacted" in event]


def check_proofs(raw: bytes, events: list[Event], signed: list[Object], report: Report) -> None:
    """`signed` are the checkpoints of the bundle, smallest first; the last is the closing one."""
    size, root = signed[-1]["size"], signed[-1]["root"]
    parsed = read_json(raw, {"size", "events", "consistency"})
    if parsed is None or not isinstance(parsed["events"], list) or not isinstance(parsed["consistency"], list):
        report.tampered.append("proofs.json: this is not a list of proofs as an export writes it.")
        return
    if number(parsed["size"]) != size:
        report.tampered.append(f"proofs.json: the proofs are for a tree of {parsed['size']} events, the checkpoint is over {size}.")
    if len(parsed["events"]) < len(events):
        report.incomplete.append(f"proofs.json: {len(events) - len(parsed['events'])} events have no proof.")
    elif len(parsed["events"]) > len(events):
        report.incomplete.append(f"proofs.json: {len(parsed['events']) - len(events)} proofs have no event.")
    pairs = zip(enumerate(events, 1), parsed["events"])  # noqa: B905
    seqs = [check_proof(count, leaf, proof, size, root, report) for (count, (_, leaf)), proof in pairs]
    if seqs != sorted(set(seqs)):
        report.tampered.append("proofs.json: the places in the ledger do not rise with the events.")
    if seqs and seqs[-1] != size:
        report.tampered.append(f"checkpoint: it is over {size} events, and the export is event {seqs[-1]} of the ledger, not the last.")
    check_consistency(parsed["consistency"], signed, report)


def check_consistency(proofs: list[Any], signed: list[Object], report: Report) -> None:
    if len(proofs) != len(signed) - 1:
        report.incomplete.append(f"proofs.json: {len(signed)} checkpoints are there, and {len(proofs)} proofs that one continues another.")
    for proof, old, new in zip(proofs, signed, signed[1:]):  # noqa: B905
        if not isinstance(proof, dict) or set(proof) != {"from", "to", "path"} or not isinstance(proof["path"], list):
            report.tampered.append("proofs.json: this is not a proof of consistency as an export writes it.")
            continue
        sizes, path = (number(proof["from"]), number(proof["to"])), read_path(proof["path"])
        if sizes != (old["size"], new["size"]) or path is None or not follows(old, new, path):
            report.tampered.append(f"The checkpoint over {new['size']} events does not continue the one over {old['size']}.")


def check_proof(count: int, leaf: bytes, proof: Any, size: int, root: bytes, report: Report) -> int:
    """Check one proof and say the place in the ledger it is for."""
    if not isinstance(proof, dict) or set(proof) != {"seq", "leaf", "path"} or not isinstance(proof["path"], list):
        report.tampered.append(f"proofs.json proof {count}: this is not a proof as an export writes it.")
        return 0
    seq, path = number(proof["seq"]), read_path(proof["path"])
    if digest(proof["leaf"]) != leaf:
        report.tampered.append(f"events.jsonl line {count}: the event is not the one that proof {count} is for.")
    elif not seq or path is None or not climbs(leaf, seq - 1, size, path, root):
        report.tampered.append(f"events.jsonl line {count}: event {proof['seq']} of the ledger is not under the root of the checkpoint.")
    return seq


def read_note(text: object) -> Optional[Object]:
    """A signed note: the text, and (name, key id and signature) of each line under it. None when it is anything else."""
    form = r"(?P<text>(?:[^\n]+\n)+)\n(?P<lines>(?:\u2014 [^ \n]+ [^ \n]+\n)+)"
    match = re.fullmatch(form, text) if isinstance(text, str) else None
    if not match:
        return None
    signatures = [(name, unbase64(signature)) for name, signature in re.findall(r"\u2014 ([^ \n]+) ([^ \n]+)\n", match["lines"])]
    if any(raw is None or len(raw) < 5 for _, raw in signatures):
        return None
    return {"text": match["text"].encode("utf-8", "surrogatepass"), "signatures": signatures}


def read_checkpoint(raw: bytes) -> Optional[Object]:
    """A note that says origin, size and root. None when it is anything else."""
    note = read_note(raw.decode("utf-8", "replace"))
    lines = note["text"].decode("utf-8", "surrogatepass").split("\n") if note else []
    if note is None or len(lines) != 4:
        return None
    size, root = number(lines[1]), unbase64(lines[2])
    return note | {"origin": lines[0], "size": size, "root": root} if size and root and len(root) == 32 else None


class Pins:
    """What is known from elsewhere: the fingerprint of a key, checkpoints that were kept, and which run was asked for."""

    def __init__(self, key: str = "", kept: tuple[Object, ...] = (), run: str = "") -> None:
        self.key, self.kept, self.run = key, kept, run


def check_keys(raw: bytes, signed: list[Object], closing: Object, pins: Pins, report: Report) -> list[bytes]:
    """Returns the order keys there were, the present one last; none where the keys cannot be trusted."""
    parsed = read_json(raw, {"origin", "ed25519", "fingerprint", "p256", "changes"})
    public, spki = (digest(parsed["ed25519"]), spki_of(parsed["p256"])) if parsed else (None, None)
    origin = signed[-1]["origin"]
    if not parsed or not public or not spki or parsed["fingerprint"] != sha256(public).hexdigest() or parsed["origin"] != origin:
        report.tampered.append("keys.json: these are not the keys of this checkpoint as an export writes them.")
        return []
    if closing["body"].get("key") != parsed["fingerprint"]:
        report.tampered.append(f"keys.json: the export names another key than {parsed['fingerprint']}, which the bundle brings.")
    if closing["body"].get("order_key") != sha256(spki).hexdigest():
        report.tampered.append("keys.json: the export names another order key than the bundle brings.")
    read = [read_change(item, signed[-1]) for item in parsed["changes"]] if isinstance(parsed["changes"], list) else [None]
    changes = [change for change in read if change is not None]
    if len(changes) != len(read) or [change["seq"] for change in changes] != sorted({change["seq"] for change in changes}):
        report.tampered.append("keys.json: a change of key is not one that the ledger holds.")
        return []
    known = {parsed["fingerprint"]} | {sha256(change["old"]).hexdigest() for change in changes if change["which"] == "ledger"}
    report.pinned = pins.key in known
    if pins.key and not report.pinned:
        report.tampered.append(f"keys.json: the key is {parsed['fingerprint']}, not the pinned {pins.key}.")
    report.facts.append(("key", parsed["fingerprint"]))
    current = {"ledger": public, "order": spki}
    for change in reversed(changes):
        which, where = change["which"], f"the change of the {change['which']} key in event {change['seq']}"
        if change["new"] != current[which]:
            report.tampered.append(f"keys.json: {where} leads to another key.")
        current[which] = change["old"]
        check_signatures(where, origin, current, change["note"], report)
        report.facts.append(("key changed", f"{where}, from {sha256(change['old']).hexdigest()}"))
    for checkpoint in signed:
        name = "checkpoint" if checkpoint is signed[-1] else f"checkpoints/{checkpoint['size']}"
        check_signatures(name, origin, keys_at(checkpoint["size"], changes, public, spki), checkpoint, report)
    for kept in pins.kept:
        check_kept(kept, signed, keys_at(kept["size"], changes, public, spki), report)
    return [change["old"] for change in changes if change["which"] == "order"] + [spki]


def check_kept(kept: Object, signed: list[Object], keys: dict[str, bytes], report: Report) -> None:
    """A checkpoint from elsewhere is a pin: the keys of this bundle must have signed it, and its root stands where it stood."""
    size, where = kept["size"], f"the kept checkpoint over {kept['size']} events"
    check_signatures(where, signed[-1]["origin"], keys, kept, report)
    roots = {checkpoint["size"]: checkpoint["root"] for checkpoint in signed}
    if roots.get(size, kept["root"]) != kept["root"]:
        report.tampered.append(f"{where} has another root than the bundle's: the ledger was written anew, or put back, since.")
        return
    report.pinned = True
    compared = "agrees with the bundle's" if size in roots else "is signed by the same keys; no checkpoint of the bundle has its size"
    report.facts.append(("kept", f"the checkpoint over {size} events {compared}"))


def keys_at(size: int, changes: list[Object], public: bytes, spki: bytes) -> dict[str, bytes]:
    """A checkpoint that ends with a change of key, or before it, is signed by the key that was."""
    current = {"ledger": public, "order": spki}
    for change in reversed(changes):
        if size <= change["seq"]:
            current[change["which"]] = change["old"]
    return current


def read_change(item: Any, closing: Object) -> Optional[Object]:
    """A change of key that is proven to be in the ledger; None when it is not."""
    if not isinstance(item, dict) or set(item) != {"body", "index", "path"} or not isinstance(item["path"], list):
        return None
    line, index, path = str(item["body"]).encode("utf-8", "surrogatepass"), str(item["index"]), read_path(item["path"])
    event, leaf = read_event(line), sha256(b"\x00" + line).digest()
    if event is None or path is None or not re.fullmatch(r"0|[1-9][0-9]{0,17}", index):
        return None
    if not climbs(leaf, int(index), closing["size"], path, closing["root"]):
        return None
    which, body = event["type"].removesuffix(".key-rotated"), event["body"]
    read = {"ledger": digest, "order": spki_of}.get(which)
    old, new = (read(body.get("old")), read(body.get("new"))) if read else (None, None)
    note = read_note(body.get("statement")) if old and new else None
    if note is None or new is None or note["text"] != f"{closing['origin']}/keys\n{which}\n{base64.b64encode(new).decode()}\n".encode():
        return None
    return {"seq": int(index) + 1, "which": which, "old": old, "new": new, "note": note}


def check_signatures(where: str, origin: str, keys: dict[str, bytes], note: Object, report: Report) -> None:
    """Both signatures, and no other: Ed25519 by the ledger key, and after it ECDSA P-256 by the order key."""
    public, spki = keys["ledger"], keys["order"]
    expected = [(origin, sha256(origin.encode() + b"\n\x01" + public).digest()[:4]), (f"{origin}/p256", sha256(spki).digest()[:4])]
    if [(name, raw[:4]) for name, raw in note["signatures"]] != expected:
        report.tampered.append(f"{where}: it is signed by another key than keys.json brings.")
        return
    for kind, key, (_, raw) in zip(("ed25519", "ecdsa"), (public, spki), note["signatures"]):  # noqa: B905
        found = signature_verdict(kind, key, raw[4:], note["text"])
        if found == "bad":
            report.tampered.append(f"{where}: the signature is not one of this key over this text.")
        elif found:
            report.unchecked.append(f"{where}: the {kind} signature is not checked, {found}.")


def check_blobs(files: dict[str, bytes], events: list[Event], report: Report) -> None:
    named = {item: count for count, (event, _) in enumerate(events, 1) for item in event["evidence"]}
    erased = events[-1][0]["body"].get("erased", [])
    for item, count in named.items():
        if f"blobs/{item}" not in files and item in erased:
            report.facts.append(("redacted", f"the evidence {item}; the export says so"))
        elif f"blobs/{item}" not in files:
            report.incomplete.append(f"blobs/{item} is missing; event {count} of the run names it as evidence.")
    for name, data in files.items():
        if name.startswith("blobs/"):
            if sha256(data).hexdigest() != name[6:]:
                report.tampered.append(f"{name}: the SHA-256 of the bytes is not the one in the name.")
            elif name[6:] not in named:
                report.tampered.append(f"{name}: no event names this evidence.")
    report.facts.append(("evidence", f"{len(named)} files"))


def check(files: dict[str, bytes], pins: Pins, report: Report) -> None:
    report.incomplete += [f"{name} is missing." for name in FILES if name not in files]
    for name in files:
        if name not in FILES and not name.startswith(("blobs/", "checkpoints/")):
            report.tampered.append(f"{name}: no export writes such a file.")
    if "events.jsonl" not in files:
        return
    read = read_events(files["events.jsonl"], report)
    events = [(event, leaf) for event, leaf in read if event is not None]
    if not events or len(events) != len(read):
        return
    check_order(events, report)
    check_blobs(files, events, report)
    closing = events[-1][0]
    if pins.run and closing.get("run", pins.run) != pins.run:
        report.tampered.append(f"events.jsonl: this is the run {closing['run']}, and the run {pins.run} was asked for.")
    times = [event["at"] for event, _ in events if "at" in event] or ["unknown"]
    asked = "" if pins.run else " (no run was asked for, so any genuine run would do: --run NUMBER holds it to one)"
    report.facts[:0] = [("run", f"{closing.get('run', 'unknown')}{asked}"), ("events", f"{len(events)}, from {times[0]} to {times[-1]}")]
    if "verify.py" in files and sha256(files["verify.py"]).hexdigest() != closing["body"].get("verifier") and closing["type"] == CLOSING:
        report.tampered.append("verify.py: this is not the program that was exported. Check the bundle with a copy from elsewhere.")
    check_signed(files, events, closing, pins, report)


def check_signed(files: dict[str, bytes], events: list[Event], closing: Object, pins: Pins, report: Report) -> None:
    if "checkpoint" not in files:
        return
    signed = read_checkpoints(files, report)
    if not signed:
        return
    checkpoint = signed[-1]
    report.facts.append(("checkpoint", f"{checkpoint['origin']}, {checkpoint['size']} events, root {checkpoint['root'].hex()}"))
    if "proofs.json" in files:
        check_proofs(files["proofs.json"], events, signed, report)
    keys = check_keys(files["keys.json"], signed, closing, pins, report) if "keys.json" in files else []
    if keys:
        check_orders(events, files, keys, signature_verdict, report)


def read_checkpoints(files: dict[str, bytes], report: Report) -> list[Object]:
    """All checkpoints of the bundle, smallest first, the closing one last; none when one of them is not what its name says."""
    earlier = {name: read_checkpoint(data) for name, data in files.items() if name.startswith("checkpoints/")}
    closing = read_checkpoint(files["checkpoint"])
    bad = [name for name, note in earlier.items() if note is None or name != f"checkpoints/{note['size']}"]
    if closing is None:
        bad.append("checkpoint")
    elif any(note and (note["origin"] != closing["origin"] or note["size"] >= closing["size"]) for note in earlier.values()):
        bad.append("checkpoints")
    report.tampered += [f"{name}: this is not a signed note as an export writes it." for name in bad]
    whole = [note for note in (*earlier.values(), closing) if note is not None]
    return [] if bad else sorted(whole, key=lambda note: note["size"])


def verify(path: Path, pins: Pins) -> Report:
    report = Report()
    files = read_folder(path) if path.is_dir() else unpack(path.read_bytes(), report)
    check(files, pins, report)
    return report


VERDICTS = {
    INTACT: "INTACT. The bundle holds the whole run as it stood at its last event, signed by the pinned key.",
    TAMPERED: "TAMPERED. Trust nothing in this bundle.",
    INCOMPLETE: "INCOMPLETE. Something is missing; no fault was found in the rest.",
    UNCHECKED: "NOT ESTABLISHED. No fault was found in the bundle, and what is listed above is not known.",
}
BROKEN = "BROKEN. The events of the bundle break the rules for orders."
LABELS = {"TAMPERED": "tampered", "BROKEN": "broken", "INCOMPLETE": "incomplete", "NOT CHECKED": "unchecked"}


def show(report: Report) -> None:
    for name, fact in report.facts:
        print(f"{name + ':':<12}{fact}")
    for label, found in LABELS.items():
        print("".join(f"{label:<12}{sentence}\n" for sentence in getattr(report, found)), end="")
    if not report.pinned:
        print(
            "KEY NOT PINNED: the key came with the bundle, so anybody could have made it. Get its fingerprint from whoever runs the "
            "portal (page Ledger, or `./run manage ledger key`), not with the bundle, and give it with --key."
        )
    print(BROKEN if report.broken and not report.tampered else VERDICTS[report.exit_code])


class Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """Like the original, but 2 means "incomplete" here."""
        self.exit(NOTHING, f"{self.format_usage()}{message}\n")


def fingerprint(text: str) -> str:
    if not digest(text.lower()):
        raise argparse.ArgumentTypeError("a fingerprint is 64 hex digits")
    return text.lower()


def read_kept(path: Path) -> tuple[Object, ...]:
    """The checkpoints in a file that was kept elsewhere, however many, between whatever else stands there."""
    form = r"(?:[^\n]+\n){3}\n(?:\u2014 [^ \n]+ [^ \n]+\n)+"
    text = path.read_text(encoding="utf-8", errors="replace")
    lines = [unbase64(proof) or b"" for proof in re.findall(f"{ONE_LINE}([A-Za-z0-9+/=]+)", text)]
    found = [read_checkpoint(note) for note in [*(note.encode() for note in re.findall(form, text)), *lines]]
    kept = tuple(note for note in found if note is not None)
    if not found or len(kept) != len(found):
        raise OSError("there is no checkpoint in it, or one that is not a signed note")
    return kept


def main(argv: Optional[list[str]] = None) -> int:
    parser = Parser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bundle", type=Path, help="the zip, or the folder it was unpacked into")
    parser.add_argument("--key", type=fingerprint, help="the fingerprint of the ledger's key, from somewhere else than the bundle")
    parser.add_argument("--kept", type=Path, help="a file with checkpoints of this ledger that were kept elsewhere")
    parser.add_argument("--run", default="", help="the number of the run that was asked for")
    asked = parser.parse_args(argv)
    reading = asked.kept
    try:
        kept = read_kept(asked.kept) if asked.kept else ()
        reading = asked.bundle
        report = verify(asked.bundle, Pins(asked.key or "", kept, asked.run))
    except OSError as error:
        print(f"{reading} cannot be read: {error}", file=sys.stderr)
        return NOTHING
    show(report)
    return report.exit_code


if __name__ == "__main__":
    sys.exit(main())
