"""The certificate: whether contact forces can move the bodies as the clip shows."""
