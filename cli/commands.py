"""The commands. Each asks the portal what a page would show, or does what its button does."""

import argparse
import getpass
import json
import os
import sys
from collections.abc import Callable
from typing import Any

from cli import VERSION, acts, collect, config, looks, verifier
from cli.portal import Portal
from cli.problems import DONE, Trouble
from cli.problems import __doc__ as CODES

EXAMPLES = """\
  slotlight status                       how the fleet stands
  slotlight situations                   what is wrong, and the runbooks for it
  slotlight start 12 wwid-mismatch-replace
  slotlight run 7                        where a run stands, its guards, its exact command
  slotlight run 7 choose naa:5000c500a65b207b
  slotlight run 7 approve                say yes to the plan you have just read
  slotlight run 7 stop "wrong shelf"     end it
  slotlight loop 3 close "bay 5 is dark" say that something is switched off again
  slotlight collect root@oss07           read a host without an agent, and bring it
  slotlight ledger search --run 7
  slotlight ledger bundle 7 && slotlight ledger verify slotlight-run-7.zip --run 7 --key FINGERPRINT

Exit codes: """


def parser() -> argparse.ArgumentParser:
    codes = CODES.strip().partition("\n\n")[2]
    whole = argparse.ArgumentParser(
        prog="slotlight",
        description="Slotlight on the command line.",
        epilog=EXAMPLES + codes,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    whole.add_argument("--json", action="store_true", help="the answer of the API, for programs")
    whole.add_argument("--version", action="version", version=VERSION)
    commands = whole.add_subparsers(dest="command", required=True, metavar="COMMAND")
    login = _command(commands, "login", "keep the portal's address and a token in a file of your own", _login)
    login.add_argument("url")
    for name, (words, look) in looks.LOOKS.items():
        looks.arguments(name, _command(commands, name, words, look))
    start = _command(commands, "start", "begin a run that answers a situation", acts.start)
    start.add_argument("situation", type=int)
    start.add_argument("runbook", nargs="?", default="", help="may be left out when one runbook answers it")
    run = _command(commands, "run", "one run; with an act, do it", acts.run)
    run.add_argument("id", type=int)
    run.add_argument(
        "act",
        nargs="?",
        default="",
        choices=["", "why", "snippet", *acts.ACTS],
        metavar="ACT",
        help=", ".join(acts.ACTS) + "; why: what stands against choices; snippet: the command that was shown, to give it by hand",
    )
    run.add_argument("words", nargs="*", metavar="WORDS", help="what the act needs: a choice, the confirmation, the evidence, the reason")
    run.add_argument("--yes", action="store_true", help=f"do not ask before {', '.join(acts.ASKED_FIRST)}")
    run.add_argument("--accepted", default="", metavar="WORDS", help="with --yes: what is lost, word by word as the run shows it")
    run.add_argument("--version", type=int, default=None, help="the version you have read; without it the run is shown and read now")
    loop = _command(commands, "loop", "one open loop; with close, report that it is over", acts.loop)
    loop.add_argument("id", type=int)
    loop.add_argument("act", nargs="?", default="", choices=["", "close"], metavar="close")
    loop.add_argument("words", nargs="*", metavar="WORDS", help="how you know that it is over")
    loop.add_argument("--version", type=int, default=None, help="the version of its run that you have read")
    _collect(commands)
    _ledger(commands)
    return whole


def _command(commands: Any, name: str, words: str, call: Callable[..., Any]) -> argparse.ArgumentParser:
    made: argparse.ArgumentParser = commands.add_parser(name, help=words, description=words.capitalize() + ".")
    made.set_defaults(call=call)
    made.add_argument("--json", action="store_true", default=argparse.SUPPRESS, help=argparse.SUPPRESS)
    return made


def _collect(commands: Any) -> None:
    words = "read a host that has no agent over your own ssh, and bring it to the portal; with --from, bring an archive"
    made = _command(commands, "collect", words, collect.collect)
    made.add_argument("host", nargs="?", default="", metavar="HOST", help="a host that your ssh resolves: root@HOST reads everything")
    made.add_argument("--from", dest="file", default="", metavar="FILE", help="an archive that is here already")
    made.add_argument("--name", default="", help="the host it is of, where the archive does not name it")
    made.add_argument(
        "--taken-at", default="", metavar="TIME", help="when it was taken, where the archive does not show it: 2026-11-27T09:30:00Z"
    )
    made.add_argument("--anew", action="store_true", help="the host was installed anew, or got another hostid")
    made.add_argument("--sudo", action="store_true", help="become root there with sudo, where it asks for no password")
    made.add_argument("--ssh", default="ssh", metavar="COMMAND", help='how to reach it, "ssh -p 2222"; ssh alone is usual')


def _ledger(commands: Any) -> None:
    kinds = commands.add_parser("ledger", help="search it, take a run's bundle, verify one").add_subparsers(dest="what", required=True)
    search = _command(kinds, "search", "events, newest first", looks.ledger)
    search.add_argument("text", nargs="?", default="")
    for name in ("actor", "type", "run", "node"):
        search.add_argument(f"--{name}", default="")
    search.add_argument("--most", type=int, default=50)
    bundle = _command(kinds, "bundle", "write a run's bundle to a file; taking it is on the record", looks.bundle)
    bundle.add_argument("run", type=int)
    bundle.add_argument("-o", "--output", default="")
    verify = _command(kinds, "verify", "check a bundle offline; needs no portal and no token", verifier.verify)
    verify.add_argument("bundle")
    verify.add_argument("--key", default="", help="the fingerprint of the ledger's key, from somewhere else than the bundle")
    verify.add_argument("--kept", default="", help="a file with checkpoints of this ledger that were kept elsewhere")
    verify.add_argument("--run", default="", help="the number of the run that was asked for")


def _login(asked: argparse.Namespace, _portal: Callable[..., Any]) -> int:
    url = config.checked(asked.url)
    token = (getpass.getpass("Token (it is not shown): ") if sys.stdin.isatty() else sys.stdin.readline()).strip()
    found = Portal(config.Config(url, token, ""))
    found.get("status")  # a token that is not accepted is not kept
    print(f"{config.save(os.environ, url, token)} holds it now, for you alone.")
    return DONE


def main(args: list[str]) -> int:
    asked = parser().parse_args(args)
    try:
        return int(asked.call(asked, lambda: Portal(config.load(os.environ))))
    except Trouble as trouble:
        _print(trouble, asked.json)
        return trouble.code
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # `| head` has read enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE


def _print(trouble: Trouble, as_json: bool) -> None:
    from cli.show import text

    if as_json:
        print(json.dumps({"detail": trouble.text, "do": trouble.do, "verdicts": trouble.verdicts}))
        return
    print(text(trouble.text), file=sys.stderr)
    for one in trouble.verdicts:
        if one.get("outcome") != "pass":
            print(text(f"{one.get('outcome')}: {one.get('reason')}", "  "), file=sys.stderr)
    if trouble.do:
        print(text(trouble.do), file=sys.stderr)
