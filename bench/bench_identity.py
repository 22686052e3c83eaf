"""What checking who somebody is adds: a sign-in, an approval, and giving an order, each as the web process does them.

`python -m bench.bench_identity --before FOLDER` measures the checkout in FOLDER too, in turn, round by round, so that a busy moment meets both.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ROUNDS, SIGN_INS = 5, 20
PASSWORD = "correct horse battery"


def main() -> None:
    asked = argparse.ArgumentParser()
    asked.add_argument("--before", type=Path, help="another checkout of this repository")
    asked.add_argument("--rounds", type=int, default=ROUNDS)
    asked.add_argument("--round", action="store_true", help="one round of the checkout in the working folder, as JSON")
    given = asked.parse_args()
    if given.round:
        print(json.dumps(measured()))
        return
    before = given.before
    trees = {"before": before, "now": ROOT} if before else {"now": ROOT}
    found: dict[str, dict[str, list[float]]] = {name: {} for name in trees}
    for _ in range(given.rounds):
        for name, tree in trees.items():
            for what, took in one_round(tree).items():
                found[name].setdefault(what, []).extend(took)
    print(f"{given.rounds} rounds; load average {' '.join(f'{load:.2f}' for load in os.getloadavg())} on {os.cpu_count()} cores")
    print(f"{'ms':28}" + "".join(f"{name + ' p50':>14}{name + ' best':>14}" for name in trees))
    for what in found["now"]:
        cells = (f"{statistics.median(found[name][what]):14.1f}{min(found[name][what]):14.1f}" for name in trees)
        print(f"{what:28}" + "".join(cells))


def one_round(tree: Path) -> dict[str, list[float]]:
    """In a process of its own, with the code of that checkout."""
    environment = os.environ | {"DJANGO_SETTINGS_MODULE": "tests.settings", "PYTHONPATH": str(tree)}
    done = subprocess.run([sys.executable, __file__, "--round"], cwd=tree, env=environment, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def measured() -> dict[str, list[float]]:
    sys.path.insert(0, os.getcwd())
    import django

    django.setup()
    try:
        from app.core.database import point_at
    except ModuleNotFoundError:  # a checkout from before there was app.core
        from app.database import point_at
    from conftest import _migrate
    from tests.ground import Ground

    ground = Ground.place()
    ground.start(_migrate)
    ground.clone("bench_identity")
    point_at(ground.url("bench_identity"))
    return {"sign in": sign_ins(), **orders(Path(tempfile.mkdtemp(prefix="slotlight-bench-")))}


def sign_ins() -> list[float]:
    """POST the form, and the page it leads to: two requests with a session."""
    from django.test import Client

    from app.accounts.models import User

    User.objects.create_user("zoe", password=PASSWORD)

    def once() -> float:
        browser, begun = Client(), time.perf_counter()
        assert browser.post("/sign-in/", {"login": "zoe", "password": PASSWORD}).status_code == 302
        assert browser.get("/account/").status_code == 200
        return (time.perf_counter() - begun) * 1000

    once()
    return [once() for _ in range(SIGN_INS)]


def orders(folder: Path) -> dict[str, list[float]]:
    from app.runs.tests import cast

    ev = cast.ev  # its module has another path in an older checkout
    ann, bob = cast.person("ann", "operator"), cast.person("bob", "approver")
    node = cast.Oss01(folder)
    node.report()
    run = cast.walk_to("approve", node, ann, bob)
    begun = time.perf_counter()
    run = cast.act(run, ev.Approved, bob, plan_digest=run.here.plan_digest)
    approved = time.perf_counter()
    cast.act(run, ev.ExecuteAsked, ann)
    return {"approve": [(approved - begun) * 1000], "give the order": [(time.perf_counter() - approved) * 1000]}


if __name__ == "__main__":
    main()
