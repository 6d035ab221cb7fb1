"""What an attacker could get out of a design: under faults, and from its power."""
