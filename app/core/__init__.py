"""What every part of the portal stands on: database, health, logs, limits, error pages, permissions of routes."""
