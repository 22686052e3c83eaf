"""Open pages and waiting agents are notified of changes at once, through Valkey."""
