"""How a run moves: its state, the events that can happen to it, the decision about what comes next, and what a runbook must be."""
