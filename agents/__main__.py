"""The agent's command line: `python -m agents COMMAND`, or the zipapp itself."""

from __future__ import annotations

import argparse
import getpass
import json
import os
import signal
import sys
from collections.abc import Callable, Sequence

from agents import VERSION
from agents.host import paths
from agents.host.host import LocalHost
from agents.host.worker_pool import one_heap
from agents.orders import policy
from agents.orders.journal import FILE as JOURNAL
from agents.orders.journal import Journal, JournalError, start_new
from agents.orders.receipts import listed
from agents.orders.write_permission import RESTORED, Standing, open_session
from agents.portal.reach import Unreachable, keep_ca, probe
from agents.portal.reach import relay as relay_there
from agents.portal.relay import serve
from agents.portal.transport import PortalDown, connector
from agents.portal.wire import canonical
from agents.reporting.reports import everything
from agents.service import install as installing
from agents.service import log_lines as lines
from agents.service import zed_hook
from agents.service.agent import Agent, Busy
from agents.service.doctor import examine
from agents.service.status import report_status
from agents.trust.identity import NoIdentity, enrol_node, load
from agents.trust.known_log import Log

DEFAULT_FOLDER = paths.FOLDER
RUN_HELP = "files that are gone after a reboot; one for all agents of the node (default: %(default)s)"


def cli() -> None:
    """What a zipapp calls: `python -m zipapp -m agents.__main__:cli`."""
    sys.exit(main(sys.argv[1:]))


def main(argv: Sequence[str]) -> int:
    args = _parser().parse_args(argv)
    lines.begin()
    os.umask(0o077)
    try:
        return int(args.command(args))
    except (NoIdentity, Busy, PortalDown, installing.CannotInstall, Unreachable, JournalError, ValueError) as error:
        print(error, file=sys.stderr)
        return 1
    except OSError as error:  # a read-only or damaged file system: systemd tries again, and each time says what is so
        if error.filename is None:
            raise
        print(f"{error.filename} cannot be used: {error.strerror}. Look at its file system, then start the agent again.", file=sys.stderr)
        return 1


def enrol(args: argparse.Namespace) -> int:
    is_here = args.dir == DEFAULT_FOLDER  # the service's own: its relay must be able to read the certificates
    ca = keep_ca(args.ca) if is_here else os.path.abspath(args.ca) if args.ca else ""
    relay = relay_there() if is_here else ""
    probe(args.portal, ca, relay)  # before the token is spent
    identity = enrol_node(LocalHost(), args.dir, args.portal, args.node, args.token, ca, args.again, relay)
    if is_here:
        installing.configure("/", args.portal, ca)
    print(f"{identity.node} is enrolled. Its key is {identity.key_id}; the portal must show the same.")
    if not identity.can_check:
        print("The portal handed over no keys of its own: this node is only observed. Update the portal, then enrol --again.")
    if args.again:
        print("Restart the agent: until then it works with its old key.")
    return 0


def witness(args: argparse.Namespace) -> int:
    """What this agent holds of the portal's ledger; ends with 1 while an alarm stands. --accept ends it."""
    log = Log(LocalHost(), args.dir, load(args.dir))
    if args.accept:
        print(log.accept(getpass.getuser(), LocalHost().now()))
        return 0
    print(log.as_text)
    return 1 if log.why_observe_only else 0


def journal(args: argparse.Namespace) -> int:
    """How the journal is; ends with 1 when nothing is carried out because of it. --accept and --start-new are for a person who has looked."""
    path, session = os.path.join(args.dir, JOURNAL), open_session(LocalHost(), args.run_dir, args.dir)
    if args.start_new:
        print(start_new(args.dir))
    kept = Journal(path, session.write_stamp if session else lambda height: None, anyway=True)
    standing = Standing(LocalHost(), load(args.dir), kept, session, args.dir, policy.DEFAULT_PATH)
    standing.compare_journal()
    if args.accept:
        standing.accept_journal()
        print("The journal counts as it is. Every order that was sealed before now is void.")
    against = kept.broken or kept.holds().get(RESTORED, "") or kept.trouble()
    print(against or "It is whole, and {}: generation {}, written {} times.".format("can be written", *kept.height()))
    kept.close()
    return 1 if against else 0


def install(args: argparse.Namespace) -> int:
    installing.install(LocalHost(), args.portal, args.node, args.token, args.ca, print)
    return 0


def status(args: argparse.Namespace) -> int:
    """Ends with 1 when the agent does not run or the portal has not taken a report lately."""
    lines, well = report_status(args.dir, args.policy, LocalHost().now())
    print("\n".join(lines))
    return 0 if well else 1


def doctor(args: argparse.Namespace) -> int:
    """Ends with 1 when something keeps the agent from working."""
    found = tuple(examine(LocalHost(), args.dir, args.policy, run_folder=args.run_dir))
    for finding in found:
        print(f"{finding.level:5}  {finding.about}: {finding.so}" + (f"\n       {finding.do}" if finding.do else ""))
    return 1 if any(finding.level == "bad" for finding in found) else 0


def run(args: argparse.Namespace) -> int:
    installing.configured(args.dir, args.config)
    work(Agent(LocalHost(), args.dir, args.policy, args.run_dir, args.relay))
    return 0


def relay(args: argparse.Namespace) -> int:
    serve(args.socket, connector)
    return 0


def work(agent: Agent) -> None:
    """Run until SIGTERM or SIGINT, and then end in good order. SIGUSR1 rings: look at once."""
    one_heap()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: agent.stop())
    signal.signal(signal.SIGUSR1, lambda *_: agent.ring())
    agent.run()


def once(args: argparse.Namespace) -> int:
    captures = everything(LocalHost())
    if args.print:
        for capture in captures:
            print(json.dumps({"source": capture.source, "key": capture.key, "digest": capture.digest, **capture.body()}))
    else:
        print(canonical(listed(captures)).decode())
    return 0 if all(capture.outcome != "failed" for capture in captures) else 3


def pending(args: argparse.Namespace) -> int:
    """Orders that are not finished, or whose end the portal has not acknowledged."""
    path = os.path.join(args.dir, JOURNAL)
    if not os.path.exists(path):
        print(f"{args.dir} holds no journal: no agent ever ran on it.", file=sys.stderr)
        return 1
    journal = Journal(path)
    for entry in journal.pending():
        print(f"{entry.order_id}  {entry.phase}  {entry.started_at or entry.claimed_at}  {entry.canonical}")
    journal.close()
    return 0


def show_policy(args: argparse.Namespace) -> int:
    rule = policy.load(args.policy)
    print(f"mode {rule.mode}: {rule.why}")
    if rule.mode == "operate":
        print(f"operations: {', '.join(rule.operations) or 'none'}")
        print(f"pools: {', '.join(rule.pools) or 'none'}")
        print(f"scrubs: {', '.join(rule.scrub_hours) or 'at any time'}")
    return 0


def zed(args: argparse.Namespace) -> int:
    if args.ring:
        return 0 if zed_hook.ring(args.dir) else 1
    print(zed_hook.hook(args.dir), end="")
    return 0


def version(args: argparse.Namespace) -> int:
    print(VERSION)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="slotlight-agent", description="Reports what a storage node shows, and does what it is allowed to."
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def command(name: str, function: Callable[[argparse.Namespace], int], text: str) -> argparse.ArgumentParser:
        sub = commands.add_parser(name, help=text, description=text)
        sub.set_defaults(command=function)
        return sub

    sub = command("enrol", enrol, "make a key and hand it to the portal")
    sub.add_argument("--portal", required=True, metavar="URL", help="https://host:port; plain http for loopback only")
    sub.add_argument("--node", required=True, help="the name the token was made for")
    sub.add_argument("--token", required=True, help="the one-time token")
    sub.add_argument("--dir", default=DEFAULT_FOLDER, help="where key and journal are kept, off any pool (default: %(default)s)")
    sub.add_argument("--ca", default="", metavar="FILE", help="certificates to trust instead of the system's")
    sub.add_argument("--again", action="store_true", help="replace the identity in the folder; the journal stays")
    sub = command("install", install, "put program, unit, policy and bell in place, enrol, start; again: upgrade")
    sub.add_argument("--portal", default="", metavar="URL", help="https://host:port")
    sub.add_argument("--node", default="", help="the name the token was made for")
    sub.add_argument("--token", default="", help="the one-time token")
    sub.add_argument("--ca", default="", metavar="FILE", help="certificates to trust instead of the system's")
    sub = command("status", status, "show how the agent on this node is")
    sub.add_argument("--dir", default=DEFAULT_FOLDER)
    sub.add_argument("--policy", default=policy.DEFAULT_PATH, metavar="FILE")
    sub = command("doctor", doctor, "show what this node lacks for the agent to see and do everything")
    sub.add_argument("--dir", default=DEFAULT_FOLDER)
    sub.add_argument("--policy", default=policy.DEFAULT_PATH, metavar="FILE")
    sub.add_argument("--run-dir", default=paths.RUN, metavar="DIR", help=RUN_HELP)
    sub = command("run", run, "report and carry out orders until stopped")
    sub.add_argument("--dir", default=DEFAULT_FOLDER)
    sub.add_argument("--policy", default=policy.DEFAULT_PATH, metavar="FILE", help="what the portal may do here (default: %(default)s)")
    sub.add_argument("--config", default=paths.CONFIG, metavar="FILE", help="where the portal is, if not where it was enrolled")
    sub.add_argument("--run-dir", default=paths.RUN, metavar="DIR", help=RUN_HELP)
    sub.add_argument("--relay", default="", metavar="SOCKET", help="go through the relay that listens there, and use no network")
    sub = command("relay", relay, "carry an agent's connections to its portal, as a user without rights")
    sub.add_argument("--socket", default=paths.RELAY_SOCKET, metavar="SOCKET", help="where to listen (default: %(default)s)")
    sub = command("once", once, "read every source once and show what came")
    sub.add_argument("--print", action="store_true", help="print the text of each source, one JSON object a line")
    sub = command("pending", pending, "list orders that are not finished or not acknowledged")
    sub.add_argument("--dir", default=DEFAULT_FOLDER)
    sub = command("witness", witness, "show what is held of the portal's ledger, and whether it contradicted itself")
    sub.add_argument("--dir", default=DEFAULT_FOLDER)
    sub.add_argument("--accept", action="store_true", help="a person has looked: end the alarm")
    sub = command("journal", journal, "show whether the journal is whole and the one that was written last")
    sub.add_argument("--dir", default=DEFAULT_FOLDER)
    sub.add_argument("--run-dir", default=paths.RUN, metavar="DIR", help=RUN_HELP)
    sub.add_argument("--accept", action="store_true", help="a person has looked: go on with it as it is")
    sub.add_argument("--start-new", action="store_true", help="put a journal that cannot be read aside and begin another")
    sub = command("policy", show_policy, "show what the portal may do here")
    sub.add_argument("--policy", default=policy.DEFAULT_PATH, metavar="FILE")
    sub = command("zed", zed, f"print the script that rings the agent on pool events; it belongs in /etc/zfs/zed.d/{zed_hook.HOOK_NAME}")
    sub.add_argument("--dir", default=DEFAULT_FOLDER)
    sub.add_argument("--ring", action="store_true", help="ring now instead; ends with 1 when no agent listens")
    command("version", version, "print the version")
    return parser


if __name__ == "__main__":
    cli()
