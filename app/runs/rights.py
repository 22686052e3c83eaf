"""The rights that runs ask for. Who has them is said in `app.accounts.rights`."""

from app.accounts.rights import APPROVE, BREAK_GLASS, MANUAL, OPERATE, holders, may, may_somewhere, rests

__all__ = ["APPROVE", "BREAK_GLASS", "MANUAL", "OPERATE", "holders", "may", "may_somewhere", "rests"]
