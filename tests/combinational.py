"""Many components at once in Verilator, each given every vector: for exhaustive tests.

The components' ports are slices of one wide input and one wide output, so that one C++ loop serves
all. A component may have registers: a vector goes in with every clock cycle.
"""

import ctypes
import shutil

from amaranth.hdl import Cat, Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from coprime.flow import simulation
from coprime.flow.cache import cached
from coprime.flow.tools import find_compiler, run_tool, verilator_root
from coprime.flow.verilog import to_verilog

_WORD = 32
_SHORTEST = 3  # words: from there on Verilator makes an array of a port, which the loop relies on

_LOOP = """
#include "Vmodel.h"
#ifdef CLOCKED
#define CLOCK(level) model.clk = level; model.eval();
#else
#define CLOCK(level)
#endif
extern "C" __attribute__((visibility("default")))
void run(uint64_t count, const uint32_t *given, uint32_t *found) {
  VerilatedContext context;
  Vmodel model(&context);
  for (; count--; given += GIVEN_WORDS, found += FOUND_WORDS) {
    for (int k = 0; k < GIVEN_WORDS; k++) model.given[k] = given[k];
    CLOCK(0)
    model.eval();
    for (int k = 0; k < FOUND_WORDS; k++) found[k] = model.found[k];
    CLOCK(1)
  }
}
"""


def _outputs(component):
    members = component.signature.members
    return [getattr(component, name) for name, member in members.items() if member.flow == Out]


class _Top(wiring.Component):
    """All components, with the wide input and the wide output."""

    def __init__(self, components, slices):
        self.components = components
        self.starts, self.fields = [], []
        given = found = 0
        for component in components:
            starts, start = {}, 0
            for name, member in component.signature.members.items():
                if member.flow == In:
                    starts[name] = start if slices is None else slices[name]
                    start = starts[name] + len(getattr(component, name))
                    given = max(given, start)
            self.starts.append(starts)
            width = sum(len(output) for output in _outputs(component))
            self.fields.append((found, width))
            found += width
        bits = (_WORD * max(_SHORTEST, -(-bits // _WORD)) for bits in (given, found))
        super().__init__({"given": In(next(bits)), "found": Out(next(bits))})

    def elaborate(self, platform):
        m = Module()
        for k, component in enumerate(self.components):
            m.submodules[f"dut_{k}"] = component
            for name, start in self.starts[k].items():
                port = getattr(component, name)
                m.d.comb += port.eq(self.given[start : start + len(port)])
            first, width = self.fields[k]
            m.d.comb += self.found[first : first + width].eq(Cat(_outputs(component)))
        return m


class Bench:
    """Components, and the slices of the wide input that each input port reads.

    Parameters
    ----------
    components : list of wiring.Component
        The result of each is the concatenation of its outputs.
    slices : dict of str to int, or None
        Where in the wide input the ports of a name start. None: one port behind the other, for
        each component from 0 on.
    latencies : list of int, or None
        Cycles from inputs to result, for each component.
    """

    def __init__(self, components, slices=None, latencies=None):
        self.latencies = latencies or [0] * len(components)
        top = _Top(components, slices)
        self.fields = top.fields
        self.in_words, self.out_words = len(top.given) // _WORD, len(top.found) // _WORD
        self._run = _build(to_verilog(top, "coprime_bench"), self)

    def run(self, vectors):
        """Results of each component, in the vectors' order, for numbers on the wide input."""
        words = 4 * self.in_words
        # Verilator's registers have anything in them at first: results come after the latency.
        late = max(self.latencies)
        given = b"".join(vector.to_bytes(words, "little") for vector in vectors)
        given += given[-words:] * late
        count = len(given) // words
        found = ctypes.create_string_buffer(4 * self.out_words * count)
        self._run(ctypes.c_uint64(count), given, found)
        taken = memoryview(found.raw)
        size = 4 * self.out_words
        rows = [int.from_bytes(taken[k * size : (k + 1) * size], "little") for k in range(count)]
        return [
            [row >> first & ((1 << width) - 1) for row in rows[late : late + len(vectors)]]
            for (first, width), late in zip(self.fields, self.latencies, strict=True)
        ]


def _build(verilog, bench):
    root, compiler = verilator_root(), find_compiler()
    sizes = [f"-DGIVEN_WORDS={bench.in_words}", f"-DFOUND_WORDS={bench.out_words}"]
    if any(bench.latencies):
        sizes.append("-DCLOCKED")
    flags = simulation._compile_command(compiler)
    tools = (simulation._verilator_version(root), compiler.version, *flags)

    def build(folder):
        (folder / "design.v").write_text(verilog, encoding="utf-8")
        model = simulation._verilate(folder, "model", "coprime_bench", False)
        sources = "".join(f'#include "{path}"\n' for path in sorted(model.glob("*.cpp")))
        (folder / "all.cpp").write_text(sources + _LOOP, encoding="utf-8")
        runtime = simulation._runtime(tools)
        objects = simulation._objects(runtime)
        command = [
            *flags,
            *simulation._includes(root),
            "-Imodel",
            *sizes,
            "-DVM_TRACE=0",
            *("-include", str(runtime / simulation._HEADER)),
            "-shared",
            "all.cpp",
        ]
        run_tool("the C++ compiler", [*command, *objects, "-o", "bench.so"], folder=folder)
        shutil.rmtree(model)

    key = (*tools, _LOOP, *sizes, verilog)
    return ctypes.CDLL(str(cached("test_bench", key, build) / "bench.so")).run
