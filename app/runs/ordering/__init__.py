"""From a decision to an order: approvals, locks, sealing, and the order's life until its receipt."""
