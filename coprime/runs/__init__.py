"""Running one operation: its numbers, what is predicted, a simulation beside Python's integers."""
