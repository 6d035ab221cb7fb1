"""The testbench of a package: `sim/`, with which any simulator of Verilog checks the design.

`files.py` writes the folder. `script.py` is what the testbench does, line by line; what that is, is
in `accelerator.py`, `padded.py` and `cluster.py`. The Verilog around it is in the `.v` files.
"""
