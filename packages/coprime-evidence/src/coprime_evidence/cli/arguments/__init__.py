"""The options of the commands, a file each, which are imported without what the commands do."""
