"""What runs on a storage node. Python 3.9 or newer, standard library only."""

import pkgutil

RELEASE = "0.1.0"
BUILD_FILE = "BUILD"  # its version; a package carries it, a checkout does not


def _version() -> str:
    try:
        return (pkgutil.get_data(__name__, BUILD_FILE) or b"").decode("ascii")
    except OSError:
        return RELEASE


VERSION = _version()  # as it is said to the portal and at the console: builds of one release differ after the plus
