"""What a project says in pagebridge.toml: which tools it has, and which of them, and of its secrets, an agent gets."""
