"""A code of the authenticator app counts once, whichever web process is asked."""

import os
import subprocess
import sys

import pytest

from tests.ground import ROOT

ASK = """
import django, time
django.setup()
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal import auth
from allauth.mfa.utils import encrypt
auth.time.time = lambda: 1_800_000_000
app = Authenticator(user_id=7, type="totp", data={"secret": encrypt("JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")})
code = auth.format_hotp_value(auth.hotp_value("JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP", 60_000_000))
print(auth.TOTP(app).validate_code(code))
"""


def test_of_two_processes_that_are_sent_the_same_code_at_once_one_takes_it(ground, committed_db):
    names = os.environ | ground.environment(committed_db)
    asked = [
        subprocess.Popen([sys.executable, "-c", ASK], env=names, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    lines = [one.communicate(timeout=60) for one in asked]
    assert sorted(out.strip() for out, _ in lines) == ["False", "True"], lines


def test_what_was_taken_is_not_taken_again_and_something_else_is(db):
    from django.core.cache import cache

    assert [cache.add(key, "y", timeout=30) for key in ("one", "one", "two")] == [True, False, True]


def test_it_counts_anew_when_its_time_is_over(db):
    from django.core.cache import cache

    assert [cache.add("one", "y", timeout=0), cache.add("one", "y", timeout=30), cache.add("one", "y", timeout=30)] == [True, True, False]


def test_nothing_is_read_back_that_could_be_more_than_a_count(db):
    from django.core.cache import cache

    with pytest.raises(NotImplementedError):
        cache.get("one")
