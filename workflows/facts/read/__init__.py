"""One node's captures become facts: one module for each thing that is read."""
