"""The testbench of a package: `sim/`, with which any simulator of Verilog checks the design.

`folder.py` writes it. `script.py` is what the testbench does, line by line; what that is, is in
`accelerator_checks.py`, `padding_checks.py` and `cluster_checks.py`. The Verilog around it is in
the `.v` files.
"""
