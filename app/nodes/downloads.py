"""The agent itself, as any node may fetch it, and the command line: neither holds a secret. The agent's digest stands on the Add node page."""

import hashlib
from functools import lru_cache

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from agents.packaging import deb, zipapp
from cli import packaging as cli

FILES = {
    zipapp.NAME: (zipapp.content, "application/zip"),
    deb.NAME: (deb.content, "application/vnd.debian.binary-package"),
    cli.NAME: (cli.content, "application/zip"),
}


@lru_cache(maxsize=len(FILES))
def content(name: str) -> bytes:
    """Built from this portal's own source, once for each process."""
    return FILES[name][0](settings.BASE_DIR)


def digest(name: str) -> str:
    return hashlib.sha256(content(name)).hexdigest()


@login_not_required
@require_safe
def download(request: HttpRequest, name: str) -> HttpResponse:
    if name not in FILES:
        raise Http404(f"There is no file {name}. There are: {', '.join(FILES)}.")
    return HttpResponse(content(name), content_type=FILES[name][1], headers={"Content-Disposition": f'attachment; filename="{name}"'})
