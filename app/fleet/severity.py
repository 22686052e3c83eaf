"""How a situation's severity is shown: its colour, its words and its place in a list."""

SEVERITY_TONES = {"act": "bad", "watch": "watch", "info": "info"}
SEVERITY_WORDS = {"act": "act now", "watch": "keep watching", "info": "to know"}
SEVERITY_ORDER = ("act", "watch", "info")
