"""What a person gives by hand where the portal orders nothing: the same plan as one snippet for `sh`, made for one showing."""
