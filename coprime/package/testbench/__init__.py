"""The testbench of a package: `sim/`, with which any simulator of Verilog checks the design.

`folder.py` writes it from the templates, files named `.v.j2`. The numbers that they check with are
those of `vectors.py`, and with paddings of `padding_checks.py`. The `.v` files are not filled in.
"""
