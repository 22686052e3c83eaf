"""What is asked when a run has ended: whether an order went to the node, and what a stranger makes of the run's bundle."""

import subprocess
import sys
from pathlib import Path

from lab.stage import Stage
from lab.visitor import Visitor
from launcher.bootstrap import ROOT


def orders_that_change(stage: Stage) -> str:
    """Of any run on this node."""
    ask = f"from app.runs.models import Order; print(list(Order.objects.filter(node={stage.node!r}).exclude(effect='pure').values_list('operation')))"
    return stage.portal.manage("shell", "-v", "0", "-c", ask).strip().splitlines()[-1]


def verified(who: Visitor, run: str, folder: Path) -> str:
    """What the verifier says of the run's bundle, by the fingerprint that the ledger's page shows."""
    number = run.strip("/").rpartition("/")[2]
    bundle = folder / "bundle.zip"
    bundle.write_bytes(who.fetch(f"/ledger/runs/{number}/bundle.zip"))
    who.go("/ledger/")
    fingerprint = who.page.text.partition("The fingerprint: ")[2].split()[0]
    argv = [sys.executable, str(ROOT / "app/ledger/verify.py"), str(bundle), "--run", number, "--key", fingerprint]
    ran = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    assert ran.returncode == 0, ran.stdout
    return ran.stdout
