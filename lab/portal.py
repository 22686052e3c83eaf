"""The product's portal on this machine, started as any site starts it, with an HTTPS proxy before it and three people to use it."""

import json
import os
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

from lab.front import Front, certificate
from lab.said import ProcessOutput
from launcher.bootstrap import ROOT
from launcher.say import Stop

NAME = "portal.lab"  # what the node's /etc/hosts and the certificate call it
START_SECONDS = 180
STOP_SECONDS = 60
PASSWORD = "lab-only-0815"  # the portal listens on loopback, for as long as a test runs
PEOPLE = {"ann": ["operator", "admin"], "bob": ["approver"], "eve": ["operator"]}
MAKE_PEOPLE = """
import json, sys
from app.accounts.models import Membership, User
for name, roles in json.loads({people!r}).items():
    person, _ = User.objects.get_or_create(username=name)
    person.set_password({password!r})
    person.save()
    for role in roles:
        Membership.objects.get_or_create(user=person, role=role, team=None)
"""
OURS = ("DATABASE_URL", "DATABASE_OWNER_URL", "REDIS_URL", "SECRET_KEY", "DJANGO_SETTINGS_MODULE", "SLOTLIGHT_LEDGER_KEY", "SLOTLIGHT_DATA")


class Portal:
    """A running `./run --no-demo`. `port` is the proxy's."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="slotlight-lab-"))
        self.folder.chmod(0o755)  # as root the portal runs as somebody else, who must reach it
        self.environment = {name: value for name, value in os.environ.items() if name not in OURS}
        self.environment |= {"NO_COLOR": "1", "SLOTLIGHT_HOSTS": f"{NAME},127.0.0.1", "SLOTLIGHT_DATA": str(self.folder / "data")}
        self.environment |= {"SLOTLIGHT_HTTPS": "1", "SLOTLIGHT_TRUSTED_PROXIES": "127.0.0.1"}
        self._start()

    def _start(self) -> None:
        argv = [str(ROOT / "run"), "--no-demo", "--port", "0"]
        self.process = subprocess.Popen(
            argv, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, umask=0o022
        )
        try:
            inside = int(ProcessOutput(self.process, START_SECONDS).find(r"ready after .* http://\S+?:(\d+)/?$")[1])
        except Stop:
            self.stop()
            raise
        self.manage("shell", "-c", MAKE_PEOPLE.format(people=json.dumps(PEOPLE), password=PASSWORD))
        self.certificate, key = certificate(self.folder, NAME)
        self.front = Front(self.certificate, key, inside)
        self.port = self.front.port
        self.url = f"https://{NAME}:{self.port}"

    def manage(self, *args: str) -> str:
        ran = subprocess.run(
            [str(ROOT / "run"), "manage", *args], env=self.environment, capture_output=True, text=True, timeout=120, check=False
        )
        if ran.returncode:
            raise Stop(f"./run manage {args[0]} ended with {ran.returncode}:\n{ran.stdout}{ran.stderr}")
        return ran.stdout

    def stop(self) -> None:
        if hasattr(self, "front"):
            self.front.close()
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(STOP_SECONDS)
        finally:
            if self.process.poll() is None:
                self.process.kill()
            shutil.rmtree(self.folder, ignore_errors=True)
