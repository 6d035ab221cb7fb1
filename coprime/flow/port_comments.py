"""What the ports of an accelerator are for, as comments in the exported Verilog."""

_CHANNELS = {
    "aw": "write address",
    "w": "write data",
    "b": "write response",
    "ar": "read address",
    "r": "read data",
}
_SIGNALS = {
    "addr": "byte address; the two lowest bits are ignored",
    "prot": "ignored",
    "data": "a register's 32 bits",
    "strb": "bytes to write; all four, else SLVERR",
    "resp": "0: OKAY, 2: SLVERR",
    "len": "beats of the burst less 1",
    "size": "2: four bytes a beat",
    "burst": "0: FIXED, 1: INCR, 2: WRAP",
    "id": "ID of the transaction",
    "last": "last beat of the burst",
}

BUS_PORTS = {
    "s_axi_aclk": "clock; everything happens at its rising edge",
    "s_axi_aresetn": "synchronous reset, active low",
    "irq": "interrupt request, active high: a command has ended",
    "s_axis_random_tdata": "random byte",
    "s_axis_random_tvalid": "random byte is offered",
    "s_axis_random_tready": "random byte is taken",
    "noise_enable": "the noise source runs",
    "noise_valid": "a raw sample of the noise source comes",
    "noise_sample": "raw sample",
    **{
        f"s_axi_{channel}{signal}": meaning
        for channel in _CHANNELS
        for signal, meaning in _SIGNALS.items()
    },
    **{f"s_axi_{channel}valid": f"{what} is offered" for channel, what in _CHANNELS.items()},
    **{f"s_axi_{channel}ready": f"{what} is taken" for channel, what in _CHANNELS.items()},
}
"""Comments by ports' names: meaning, range."""
