"""Contact sampling: its speed, its certificates, how far it roams and what preferences change."""
