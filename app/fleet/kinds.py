"""Which team has a node decides who acts there, so that is sealed too; see `app.accounts.seals`.

Nothing else of a node lends a right: what it reports is accepted for its agent's key, which is sealed with a key outside the database.
"""

from app.accounts.seals import Kind, register
from app.fleet.models import Node

(NODE,) = register(Kind(Node, "node", "", ("id", "name", "team_id")))
