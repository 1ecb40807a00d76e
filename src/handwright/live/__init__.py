"""Live fingers over a websocket, for programs of this machine: poses in, hands out."""
