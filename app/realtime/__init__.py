"""What changes is told to open pages and waiting agents at once, through Valkey."""
