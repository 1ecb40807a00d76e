"""The independent judge: metrics and the certificate. Imports no method."""
