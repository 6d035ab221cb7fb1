"""Where the numbers of operations are in operands and results, a file each: keys, curves, pairs."""
