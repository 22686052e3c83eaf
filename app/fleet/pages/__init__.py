"""What the pages about the fleet show."""
