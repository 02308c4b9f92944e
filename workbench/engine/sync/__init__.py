"""One memory on several devices: what joins two histories, and what carries them over git remotes."""
