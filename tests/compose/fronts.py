"""nginx and Caddy with the files of the guide's page, in which names, ports and paths are replaced as the page says. Nothing else is changed."""

import os
import re
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

from lab.portal import NAME
from launcher.bootstrap import ROOT
from launcher.children import popen_options
from tests.compose.stack import OURSELVES, free_port

START_SECONDS = 30
PATH = f"{os.environ.get('PATH', os.defpath)}{os.pathsep}/usr/sbin"  # where Debian puts nginx, and not everybody looks
NGINX_AROUND = """
{user}
daemon off;
worker_processes 1;
pid {folder}/nginx.pid;
error_log {folder}/nginx.log warn;
events {{ worker_connections 512; }}
http {{
    access_log off;
    {temporary}
    include {folder}/slotlight.conf;
}}
"""
CADDY_AROUND = "{{\n\tadmin off\n\tauto_https disable_redirects\n\tstorage file_system {folder}/caddy\n}}\n"


def example(kind: str) -> str:
    """The fenced block of this kind on the guide's page."""
    (found,) = re.findall(rf"^```{kind}\n(.*?)^```", (ROOT / "docs" / "guide" / "proxy.md").read_text(), re.DOTALL | re.MULTILINE)
    return found


def replaced(text: str, places: dict[str, str]) -> str:
    for old, new in places.items():
        assert old in text, f"the page's file has no {old!r}"
        text = text.replace(old, new)
    return text


def authority(folder: Path) -> tuple[Path, Path, Path]:
    """A private authority's certificate, and certificate and key of the portal that it signed."""
    curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "30"]

    def made(name: str, subject: str, *more: str) -> Path:
        files = ["-keyout", str(folder / f"{name}.key"), "-out", str(folder / f"{name}.crt")]
        subprocess.run(["openssl", "req", "-x509", *curve, "-subj", subject, *files, *more], check=True, capture_output=True)
        return folder / f"{name}.crt"

    ca = made("ca", "/CN=An authority of this test", "-addext", "keyUsage=critical,keyCertSign,cRLSign")
    signed = ["-CA", str(ca), "-CAkey", str(folder / "ca.key"), "-addext", f"subjectAltName=DNS:{NAME}"]
    leaf = made("portal", f"/CN={NAME}", *signed, "-addext", "basicConstraints=critical,CA:FALSE")
    return ca, leaf, folder / "portal.key"


class Front:
    """A proxy that listens on `port` with TLS. It sends to the portal from 127.0.0.1."""

    def __init__(self, folder: Path, web: int) -> None:
        self.folder, self.port, self.plain = folder, free_port(), free_port()
        self.certificate, leaf, key = authority(folder)
        self.url = f"https://{NAME}:{self.port}"
        self.places = {"/etc/slotlight/portal.crt": str(leaf), "/etc/slotlight/portal.key": str(key), "127.0.0.1:8000": f"127.0.0.1:{web}"}
        self._log = (folder / "front.log").open("wb")
        argv = [shutil.which(self.program, path=PATH), *self.flags()]
        environment = {"PATH": PATH, "HOME": str(folder)}
        options = popen_options(OURSELVES, signal.SIGTERM)
        self.process = subprocess.Popen(argv, cwd=folder, env=environment, stdout=self._log, stderr=self._log, **options)
        self._until_it_listens()

    def _until_it_listens(self) -> None:
        end = time.monotonic() + START_SECONDS
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                assert self._goes_on(end), (self.folder / "front.log").read_text()
                time.sleep(0.05)

    @classmethod
    def is_here(cls) -> bool:
        return shutil.which(cls.program, path=PATH) is not None

    def _goes_on(self, end: float) -> bool:
        return self.process.poll() is None and time.monotonic() < end

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(30)
        self._log.close()


class Nginx(Front):
    program = "nginx"

    def flags(self) -> list[str]:
        here = {"https://slotlight.example": self.url, "slotlight.example": NAME}
        here |= {"listen 80;": f"listen 127.0.0.1:{self.plain};", "listen 443 ": f"listen 127.0.0.1:{self.port} "}
        (self.folder / "slotlight.conf").write_text(replaced(example("nginx"), self.places | here))
        kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        temporary = "\n    ".join(f"{kind}_temp_path {self.folder}/{kind};" for kind in kinds)
        user = "user root root;" if os.geteuid() == 0 else ""  # nobody may not enter the test's folder
        main = self.folder / "nginx.conf"
        main.write_text(NGINX_AROUND.format(user=user, folder=self.folder, temporary=temporary))
        return ["-p", str(self.folder), "-e", str(self.folder / "nginx.log"), "-c", str(main)]


class Caddy(Front):
    program = "caddy"

    def flags(self) -> list[str]:
        text = replaced(example("caddyfile"), self.places | {"slotlight.example": self.url})
        main = self.folder / "Caddyfile"
        main.write_text(CADDY_AROUND.format(folder=self.folder) + text)
        return ["run", "--config", str(main), "--adapter", "caddyfile"]
