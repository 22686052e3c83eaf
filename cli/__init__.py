"""`slotlight`: the portal on the command line. Python 3.11 and its standard library, nothing else; shipped as one file."""

import pkgutil

BUILD_FILE = "BUILD"  # its version; the one file carries it, a checkout does not


def _version() -> str:
    try:
        return (pkgutil.get_data(__name__, BUILD_FILE) or b"").decode("ascii")
    except OSError:
        return "checkout"


VERSION = _version()
