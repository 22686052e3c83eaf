"""How a report becomes evidence, facts, history and situations."""
