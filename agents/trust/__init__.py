"""What the agent trusts: its own identity, the clock, the portal's signing key and its transparency log."""
