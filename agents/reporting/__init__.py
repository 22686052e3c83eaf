"""When each source is read, what it last answered, and the reports sent to the portal."""
