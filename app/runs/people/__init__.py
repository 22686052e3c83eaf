"""Who sees to a run, who is asked to approve it, who is at the rack, and how a run that stands in the way is taken over."""
