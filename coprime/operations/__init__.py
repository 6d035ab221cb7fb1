"""The operations of an engine, a file for each: its record, and its lists of steps."""
