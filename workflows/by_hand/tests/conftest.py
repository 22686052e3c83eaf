"""Each shell that a snippet is tried under."""

import shutil

import pytest

SHELLS = {"dash": "dash", "bash": "bash --posix", "busybox": "busybox sh", "ksh93": "ksh93", "mksh": "mksh"}


@pytest.fixture(params=SHELLS)
def shell(request):
    if shutil.which(SHELLS[request.param].split()[0]) is None:
        pytest.skip(f"{request.param} is not installed")
    return SHELLS[request.param]
