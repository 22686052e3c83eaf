"""Orders from the portal: what they are, who may give them, how they are carried out at most once, and what is kept of them."""
