"""Imported once by the server that triage's processes are forked from, so that each begins with everything imported."""

import django

django.setup(set_prefix=False)

from app.fleet import triage_process  # noqa: E402, F401
