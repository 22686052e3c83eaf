"""How the agent talks to the portal: signed requests, the connection, the relay process, and when they last spoke."""
