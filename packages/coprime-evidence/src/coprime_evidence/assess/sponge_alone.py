"""A sponge alone behind the ports of an accelerator, so that its power can be assessed.

Words of a block, in shares if the sponge has two, are written one by one; the last one enters as
the command starts. The interrupt comes with the first word of the output, which is read in shares
as well: nothing here adds two shares.
"""

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from coprime.bus import registers
from coprime.cells.keccak.fresh_bits import FreshBits
from coprime.cells.keccak.masked_sponge import MaskedSponge
from coprime.cells.keccak.parallel_sponge import ParallelSponge
from coprime.cells.keccak.sliced_sponge import SlicedSponge
from coprime.flow.verilog import to_verilog
from coprime.model.masked.keccak import ROW_BITS

COMMAND = registers.COMMAND.address
SEED, LAST = 0x10, 0x20  # writes: take a seed; a part of the last word
WORDS, WORDS_END = 0x800, 0xC00  # writes: parts of the other words
OUTPUT = 0xC00  # read: words in the order of their parts
PART_BITS = 32

_AXI = """
module coprime_sponge_alone(
    input s_axi_aclk, input s_axi_aresetn,
    input [11:0] s_axi_awaddr, input [2:0] s_axi_awprot, input s_axi_awvalid,
    output s_axi_awready, input [31:0] s_axi_wdata, input [3:0] s_axi_wstrb, input s_axi_wvalid,
    output s_axi_wready, output [1:0] s_axi_bresp, output reg s_axi_bvalid, input s_axi_bready,
    input [11:0] s_axi_araddr, input [2:0] s_axi_arprot, input s_axi_arvalid,
    output s_axi_arready, output reg [31:0] s_axi_rdata, output [1:0] s_axi_rresp,
    output reg s_axi_rvalid, input s_axi_rready,
    input [7:0] s_axis_random_tdata, input s_axis_random_tvalid, output s_axis_random_tready,
    output irq
);
    wire written = s_axi_awvalid & s_axi_wvalid & ~s_axi_bvalid;
    wire read = s_axi_arvalid & ~s_axi_rvalid;
    wire [31:0] data;
    assign s_axi_awready = written;
    assign s_axi_wready = written;
    assign s_axi_arready = read;
    assign {s_axi_bresp, s_axi_rresp} = 0;
    coprime_sponge_registers engine(
        .clk(s_axi_aclk), .rst(~s_axi_aresetn), .write(written), .address(s_axi_awaddr),
        .data(s_axi_wdata), .read(read), .found(data), .done(irq),
        .random__payload(s_axis_random_tdata), .random__valid(s_axis_random_tvalid),
        .random__ready(s_axis_random_tready)
    );
    always @(posedge s_axi_aclk) begin
        s_axi_bvalid <= s_axi_aresetn & (written | s_axi_bvalid & ~s_axi_bready);
        s_axi_rvalid <= s_axi_aresetn & (read | s_axi_rvalid & ~s_axi_rready);
        s_axi_rdata <= read ? data : 0;
    end
endmodule
"""
TOP = "coprime_sponge_alone"

AnySponge = MaskedSponge | SlicedSponge | ParallelSponge


class SpongeRegisters(wiring.Component):
    """A sponge with one block, and what registers do to it.

    Parameters
    ----------
    sponge : of any speed; of a masked one the bits are fresh from the last SEED on

    Members
    -------
    write, address, data (in): a word of 32 bits is written
    read (1 bit, in), found (out): a word of OUTPUT, the next one in the next cycle
    random (in): bytes for a seed
    done (1 bit, out): there is output

    Attributes
    ----------
    words (int): of a block that a write has
    parts (int): writes for that many words, and reads for a word of the output
    """

    def __init__(self, sponge: AnySponge):
        self.sponge = sponge
        self.masked = isinstance(sponge, MaskedSponge)
        bits = len(sponge.squeezed)
        self.words = 2 if 2 * bits <= PART_BITS else 1
        self.parts = max(1, bits // PART_BITS)
        super().__init__(
            {
                **dict.fromkeys(("write", "read"), In(1)),
                "address": In(12),
                "data": In(PART_BITS),
                "found": Out(PART_BITS),
                "random": In(stream.Signature(8)),
                "done": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Words wait in a register: those that COMMAND has to wait for, and others a cycle."""
        m = Module()
        m.submodules.sponge = sponge = self.sponge
        bits = len(sponge.squeezed)
        held, left = Signal(PART_BITS * self.parts), Signal(range(self.words + 1))
        part, given = Signal(), Signal()
        fills = self.write & (self.address >= WORDS) & (self.address < WORDS_END)
        begins = self.write & (self.address == COMMAND)
        m.d.comb += [
            sponge.message.payload.word.eq(held[:bits]),
            sponge.message.payload.last.eq(1),
            sponge.message.valid.eq(left != 0),
            sponge.wanted.eq(1),
            sponge.discard.eq(sponge.drained.all()),
            self.done.eq(sponge.valid),
            self.found.eq(sponge.squeezed.word_select(given, min(bits, PART_BITS))),
            sponge.take.eq(self.read & (given == self.parts - 1)),
        ]
        with m.If(sponge.message.valid & sponge.message.ready):
            m.d.sync += [held.eq(held >> bits), left.eq(left - 1)]
        with m.If(fills | (self.write & (self.address == LAST))):
            m.d.sync += held.eq(Cat(held, self.data)[PART_BITS:])
            if self.parts == 2:
                m.d.sync += part.eq(~part)
        with m.If((fills & (part == self.parts - 1)) | begins):
            m.d.sync += left.eq(self.words)
        if self.parts == 2:
            with m.If(self.read):
                m.d.sync += given.eq(~given)
        if self.masked:
            m.submodules.fresh = fresh = FreshBits(ROW_BITS)
            connect(m, flipped(self.random), fresh.random)
            m.d.comb += [
                sponge.fresh.eq(fresh.bits),
                fresh.reseed.eq(self.write & (self.address == SEED)),
            ]
        return m


def sponge_verilog(sponge: AnySponge) -> str:
    """Of the module TOP with this sponge, which has one block."""
    return to_verilog(SpongeRegisters(sponge), "coprime_sponge_registers") + _AXI
