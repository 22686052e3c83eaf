"""Makes the portal die at a named place: write `<name>:<before or after>` into the file SLOTLIGHT_PORTAL_FAILPOINT.

Only the child processes of the fault tests know this app. Dying is `os._exit`: nothing is flushed, closed or rolled back. Whoever
dies takes the file away first, so that the next process lives.
"""
