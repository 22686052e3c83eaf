"""The agent's side of the protocol with the portal: signed requests, the connection, the relay process, and the last contact."""
