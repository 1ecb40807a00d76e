"""Binary glTF files."""
