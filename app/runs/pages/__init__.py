"""What the pages about runs show."""
