"""A node and a portal that meet as the product means them to: by the line of the "Add node" page and a policy file of the node's owner."""

import json
import re
import time
from pathlib import Path

from lab import verdict
from lab.machine import Machine
from lab.portal import NAME, Portal
from lab.visitor import PATIENCE_SECONDS, Visitor

POLICY = "/etc/slotlight/policy.json"
# What the portal made of the node's reports, without a page in between. `known` values only; what is not known stands as its reason.
FACTS = """
import json
from app.fleet.models import Node
from app.fleet.services import facts_near
from workflows.facts import known
def said(value): return value if known(value) else {"unknown": value.reason}
def vdev(v): return {"name": v.name, "kind": v.kind, "state": v.state, "was": v.was, "guid": str(said(v.guid)), "wwid": said(v.wwid), "children": [vdev(c) for c in v.children]}
def pool(p): return {"name": p.name, "guid": str(said(p.guid)), "state": p.state, "tops": [[k, vdev(v)] for k, v in p.tops] if known(p.tops) else said(p.tops)}
def bay(b): return {"enclosure": b.enclosure_id, "slot": b.slot, "locate": said(b.locate), "fault": said(b.fault), "device": b.device} if known(b) else said(b)
def disk(d): return {"wwid": said(d.wwid), "serial": said(d.serial), "size": said(d.size_bytes), "names": list(d.names), "bay": bay(d.bay), "labels": len(d.labels) if known(d.labels) else said(d.labels)}
def many(values, one): return [one(v) for v in values] if known(values) else said(values)
facts = facts_near([NODE]).nodes.get(NODE)
print(json.dumps(facts and {"hostname": said(facts.hostname), "hostid": said(facts.hostid), "zfs": [said(facts.zfs_userland), said(facts.zfs_module)],
    "operations": sorted(facts.policy.operations) if known(facts.policy) and facts.policy.mode == "operate" else [],
    "pools": many(facts.pools, pool), "disks": many(facts.disks, disk), "bays": many(facts.bays, bay), "failures": dict(facts.failures),
    "asked": sorted(Node.objects.get(name=NODE).asked)}))
"""
# What the agent says of a question that is still open, which on a machine short of CPU says nothing about the node.
AGAIN_SECONDS = 1200  # a question that got no answer on a busy machine is asked again a quarter of an hour later
OPEN = ("has not answered", "needs a tool that hangs")


TEXTS = """
import json
from django.utils import timezone
from app.fleet.models import Node
from app.fleet.services import last_captures
print(json.dumps(last_captures(Node.objects.get(name=NODE), timezone.now())[0]))
"""
# On the node: stops processes the moment a command with these words begins: that command itself, or those whose numbers are told, "parent" for its own.
CATCH = """
import os, signal, sys
stopped, tool, words = sys.argv[1].split(","), sys.argv[2], set(sys.argv[3:])
began = os.getpid()
while True:
    for pid in (int(name) for name in os.listdir("/proc") if name.isdigit() and int(name) > began):
        try:
            argv = open(f"/proc/{pid}/cmdline").read().split(chr(0))
        except OSError:
            continue
        if os.path.basename(argv[0]) == tool and words <= set(argv):
            parent = open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()[1]
            stopped = [int({"": pid, "parent": parent}.get(one, one)) for one in stopped]
            for one in stopped:
                os.kill(one, signal.SIGSTOP)
            open("/run/stopped", "w").write(",".join(map(str, stopped)))
            open("/run/caught", "w").write(str(pid))
            sys.exit()
"""
CATCH_SECONDS = 300
ASK_AGAIN_SECONDS = 10  # a management command takes seconds of the CPU that the node is waiting for


class Stage:
    def __init__(self, portal: Portal, machine: Machine, keeps: Path | None = None) -> None:
        self.portal, self.machine, self.node, self.keeps = portal, machine, machine.settings.host, keeps

    def sh(self, line: str, **more) -> str:
        return self.machine.guest.sh(line, **more)

    def name_the_portal(self) -> None:
        self.sh(f"grep -q {NAME} /etc/hosts || printf '127.0.1.1 %s\\n10.0.2.2 {NAME}\\n' $(hostname) >> /etc/hosts")

    def trust(self) -> None:
        """What a site does to a server before any product comes: the name of the portal, and the site's own authority."""
        self.name_the_portal()
        self.machine.guest.put("/etc/ssl/certs/site.crt", self.portal.certificate.read_text())
        # As update-ca-certificates does it, which takes minutes here: for curl the bundle, for OpenSSL a name by hash.
        self.sh("cd /etc/ssl/certs && cat site.crt >> ca-certificates.crt && ln -sf site.crt $(openssl x509 -hash -noout -in site.crt).0")

    def give_the_disks_a_verdict(self) -> None:
        """QEMU's disks have no SMART, and a disk that says nothing of its health is refused as a new one; see `verdict`."""
        self.machine.guest.put("/root/smartctl", Path(verdict.__file__).read_text())
        self.sh(
            "dpkg-divert --quiet --divert /usr/sbin/smartctl.real --rename --add /usr/sbin/smartctl; install -m 755 /root/smartctl /usr/sbin/smartctl"
        )

    def enrol(self, who: Visitor) -> str:
        """The line of the page, typed on the node as it stands there; returns what the node printed."""
        who.go("/add-node/")
        who.press("Make a token", name=self.node)
        return self.sh(f"cd /tmp && {who.page.pre[0]}", seconds=600)  # it ends when the first report has arrived

    def allow(self, *operations: str) -> None:
        """The node's owner says what the portal may do there."""
        policy = {"mode": "operate", "operations": list(operations), "pools": ["*"]}
        self.machine.guest.put(POLICY, json.dumps(policy))
        self.sh(f"chmod 0644 {POLICY} && sync {POLICY}")  # a power cut may come within the second
        self.until(lambda facts: facts["operations"] == sorted(operations), "the node lets itself be operated")

    def catch(self, *argv: str, stop: str = "") -> None:
        """From now on the first command with these words is stopped as it begins; or in its place the processes of `stop`, by number or "parent"."""
        self.machine.guest.put("/root/catch.py", CATCH)
        self.sh(
            f"rm -f /run/caught; systemd-run -q --collect timeout {CATCH_SECONDS} python3 /root/catch.py '{stop}' {' '.join(argv)}; sleep 2"
        )

    def caught(self) -> str:
        """The number of the command that was waited for, once it has begun."""
        line = f"timeout {CATCH_SECONDS} sh -c 'until [ -s /run/caught ]; do sleep 0.2; done'; cat /run/caught"
        return self.sh(f"{line} || {{ journalctl -o cat -n 30; zpool list; ps axf; exit 1; }}", seconds=CATCH_SECONDS + 60).strip()

    def facts(self) -> dict | None:
        text = self.portal.manage("shell", "-v", "0", "-c", f"NODE = {self.node!r}\n{FACTS}")
        return json.loads(text.strip().splitlines()[-1])

    def until(self, holds, what: str, seconds: float = PATIENCE_SECONDS) -> dict:
        """The facts, once they show it."""
        end = time.monotonic() + seconds
        while True:
            facts = self.facts()
            if facts and holds(facts):
                return facts
            if time.monotonic() > end:
                raise AssertionError(f"The portal never learnt that {what}. It holds: {json.dumps(facts, indent=1)}")
            time.sleep(ASK_AGAIN_SECONDS)

    def answered(self) -> dict:
        """The facts, once the first round of questions is over: none is open, and no source has come that was not there a look ago."""
        seen: list[str] = []

        def is_over(facts: dict) -> bool:
            nonlocal seen
            before, seen = seen, facts["asked"]
            return bool(seen) and before == seen and not any(words in why for why in facts["failures"].values() for words in OPEN)

        return self.until(is_over, "every question of the first round has an answer", AGAIN_SECONDS)

    def keep(self, moment: str) -> None:
        """With `--keep DIR`: every text that the portal holds of the node now, one file each, to be kept as test data."""
        if self.keeps:
            folder = self.keeps / f"{self.node}-{moment}"
            folder.mkdir(parents=True, exist_ok=True)
            text = self.portal.manage("shell", "-v", "0", "-c", f"NODE = {self.node!r}\n{TEXTS}")
            for where, body in json.loads(text.strip().splitlines()[-1]).items():
                (folder / f"{where.replace('/', '--')}.json").write_text(json.dumps(body, indent=1))

    def replaces(self, pool: str) -> list[str]:
        """Every replace and attach that ZFS itself remembers, whoever gave it."""
        return [line for line in self.sh(f"zpool history {pool}").splitlines() if re.search(r"zpool (replace|attach)", line)]
