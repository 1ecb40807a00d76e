"""The studio's HTTP server."""
