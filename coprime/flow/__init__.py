"""From a component to Verilog, a simulation, a mapped netlist, a placed and routed design."""
