// A C interface around a Verilated accelerator: accesses and interrupt, at full speed.
//
// Compiled together with what Verilator makes of the accelerator (class Vmodel). The clock ticks
// in here only: each tick is one cycle of s_axi_aclk, and the cycle counter counts them all.
//
// The bus is AXI4-Lite; with BURSTS it is AXI4, and blocks of registers move in bursts.
//
// With RANDOM, it takes random bytes from the system, after those that it was given. With NOISE, it
// has a modelled noise source.
//
// With NUMBER_WIDTH, Vmodel is the front end of a chain and class Vnode is one of its nodes. As
// many Vnode as are asked for are connected here, in place of the wires of the whole design.
//
// With WIPED, memory is overwritten before it is returned: a simulated engine may hold a key.
//
// With REGISTERS, all state of Vmodel is variables that Verilator lists: registers and memories,
// which can be read and changed between two cycles, and whose changes can be counted in each.

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <deque>
#include <iterator>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "Vmodel.h"
#include "Vmodel___024root.h"
#include "noise.h"
#include "verilated.h"
#ifdef NUMBER_WIDTH
#include "Vnode.h"
#include "Vnode___024root.h"
#endif
#if VM_TRACE
#include "verilated_fst_c.h"
#endif
#ifdef REGISTERS
#include "verilated_syms.h"
#endif
#ifdef WIPED
#include <malloc.h>
#include <string.h>

#include <new>
#endif

#ifdef WIPED
static void overwrite(void* memory) { explicit_bzero(memory, malloc_usable_size(memory)); }

// The linker puts these in the place of operator delete wherever this library calls it: as it is,
// for a size, for an alignment, and for both.
#define WIPING(name, parameters, ...)          \
    extern "C" void __real_##name parameters;  \
    extern "C" void __wrap_##name parameters { \
        if (memory) overwrite(memory);         \
        __real_##name(__VA_ARGS__);            \
    }
WIPING(_ZdlPv, (void* memory), memory)
WIPING(_ZdlPvm, (void* memory, std::size_t size), memory, size)
WIPING(_ZdlPvSt11align_val_t, (void* memory, std::align_val_t to), memory, to)
WIPING(_ZdlPvmSt11align_val_t, (void* memory, std::size_t size, std::align_val_t to), memory, size,
       to)
#endif

void Vmodel___024root___eval(Vmodel___024root*);
#ifdef NUMBER_WIDTH
void Vnode___024root___eval(Vnode___024root*);
#endif
#ifdef REGISTERS
void Vmodel___024root___eval_settle(Vmodel___024root*);
#endif

namespace {

constexpr int TIMEOUT = -1;
constexpr uint64_t RESET_CYCLES = 8;
#ifdef BURSTS
constexpr uint64_t MOST_BEATS = 256;
constexpr uint8_t WORD = 2;  // AxSIZE: 4 bytes
constexpr uint8_t INCR = 1;  // AxBURST
#else
constexpr uint64_t MOST_BEATS = 1;
#endif

#ifdef NUMBER_WIDTH
// The nodes between packet_out and packet_in of the front end. What leaves a node, or the front
// end, comes from registers, so within an edge nothing passes through.
class Nodes {
    std::deque<Vnode> nodes;

    static void connect(Vnode___024root& node, const auto& before) {
        node.packet_in = before.packet_out;
        node.reset_in = before.reset_out;
    }

    // Connect and move each model. All must take what stood there before the edge, so each one
    // moves when the one after it has taken, and the front end is left for the caller to move.
    void step(Vmodel___024root& front_end, auto move) {
        front_end.packet_in = nodes.back().rootp->packet_out;
        for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) {
            const auto before = std::next(node);
            if (before != nodes.rend()) {
                connect(*node->rootp, *before->rootp);
            } else {
                connect(*node->rootp, front_end);
            }
            move(*node);
        }
    }

   public:
    static bool holds(uint64_t length) {
        return length >= 1 && (NUMBER_WIDTH >= 64 || (length - 1) >> NUMBER_WIDTH == 0);
    }

    Nodes(VerilatedContext& context, uint64_t length) {
        for (uint64_t n = 0; n < length; ++n) {
            const std::string name = "node_" + std::to_string(n);
            Vnode& node = nodes.emplace_back(&context, name.c_str());
            node.clk = 0;
            node.number = n;
            node.eval();
        }
    }

    ~Nodes() {
        for (Vnode& node : nodes) node.final();
    }

    void fall(Vmodel& front_end) {
#if defined(PREVIOUS_NODE_CLOCK) && !VM_TRACE
        front_end.packet_in = nodes.back().packet_out;  // it may have a use for this edge
#else
        step(*front_end.rootp, [](Vnode& node) {
            node.clk = 0;
            node.eval();
        });
#endif
    }

    void rise(Vmodel& front_end) {
        step(*front_end.rootp, [](Vnode& node) {
            node.clk = 1;
#if defined(PREVIOUS_NODE_CLOCK) && !VM_TRACE
            node.rootp->PREVIOUS_NODE_CLOCK = 0;  // as in Simulation::tick
            Vnode___024root___eval(node.rootp);
#else
            node.eval();
#endif
        });
    }

    // Carry what an edge has changed over to the inputs, which a waveform shows as wires.
    void show(Vmodel& front_end) {
        step(*front_end.rootp, [](Vnode& node) { node.eval(); });
        front_end.eval();
    }

#ifdef WIPED
    void forget() {
        for (Vnode& node : nodes) overwrite(node.rootp->vlSymsp);
    }
#endif
};
#else
struct Nodes {
    static bool holds(uint64_t length) { return length == 0; }
    Nodes(VerilatedContext&, uint64_t) {}
    void fall(Vmodel&) {}
    void rise(Vmodel&) {}
    void show(Vmodel&) {}
    void forget() {}
};
#endif

#ifdef RANDOM
// A stream of random bytes that always has one.
class Randomness {
    std::random_device system;
    std::vector<uint8_t> given;
    uint64_t drawn = 0;

    void draw(Vmodel& model) {
        model.s_axis_random_tdata = drawn < given.size() ? given[drawn] : system() & 0xFF;
        ++drawn;
    }

   public:
    // Replace the byte that is there, and what was given before.
    void give(Vmodel& model, const uint8_t* bytes, uint64_t count) {
        given.assign(bytes, bytes + count);
        model.s_axis_random_tvalid = 1;
        go_to(model, 0);
    }

    // How many bytes passed before the one that is there, and back to it, if it was given.
    uint64_t passed() const { return drawn - 1; }

    void go_to(Vmodel& model, uint64_t passed) {
        drawn = passed;
        draw(model);
    }

    bool is_taken(const Vmodel& model) { return model.s_axis_random_tready; }

    void step(Vmodel& model, bool taken) {
        if (taken) draw(model);
    }
};
#else
struct Randomness {
    void give(Vmodel&, const uint8_t*, uint64_t) {}
    uint64_t passed() const { return 0; }
    void go_to(Vmodel&, uint64_t) {}
    bool is_taken(const Vmodel&) { return false; }
    void step(Vmodel&, bool) {}
};
#endif

#ifdef REGISTERS
// Registers and memories in the order of their names, a memory of many words. As in every model of
// Verilator's, a word's lowest byte comes first, on the machines that this runs on.
class Registers {
    std::vector<const VerilatedVar*> all;

    static uint8_t* data(const VerilatedVar& one) { return static_cast<uint8_t*>(one.datap()); }

   public:
    explicit Registers(VerilatedContext& context) {
        for (const auto& [path, scope] : *context.scopeNameMap())
            if (const VerilatedVarNameMap* variables = scope->varsp())
                for (const auto& [name, variable] : *variables) all.push_back(&variable);
    }

    static uint64_t words(const VerilatedVar& one) {
        return one.udims() ? one.unpackedRanges()[0].elements() : 1;
    }

    static uint64_t bytes(const VerilatedVar& one) { return one.entSize() * words(one); }

    uint64_t size() const { return all.size(); }

    const VerilatedVar& operator[](uint64_t index) const { return *all[index]; }

    uint8_t* word(uint64_t index, uint64_t word) const {
        return data(*all[index]) + word * all[index]->entSize();
    }

    uint64_t bytes() const {
        uint64_t sum = 0;
        for (const VerilatedVar* one : all) sum += bytes(*one);
        return sum;
    }

    void save(uint8_t* to) const {
        for (const VerilatedVar* one : all) to = std::copy_n(data(*one), bytes(*one), to);
    }

    // Those that `chosen` has a 1 for; all without it.
    void restore(const uint8_t* from, const uint8_t* chosen) const {
        for (uint64_t n = 0; n < all.size(); ++n) {
            if (!chosen || chosen[n]) std::copy_n(from, bytes(*all[n]), data(*all[n]));
            from += bytes(*all[n]);
        }
    }

    bool equal(const uint8_t* state) const {
        for (const VerilatedVar* one : all) {
            if (std::memcmp(state, data(*one), bytes(*one))) return false;
            state += bytes(*one);
        }
        return true;
    }
};

// The bits that change in each clock cycle, or are 1 after it, summed by component: what a circuit's
// power follows. Of memories only the words that change count, with either.
class Activity {
    struct Part {
        uint64_t mask;
        uint32_t component;
    };

    // What is in 8 bytes of the model: registers, or words of one memory.
    struct Chunk {
        const uint8_t* now;
        uint64_t then;
        uint64_t mask;
        std::vector<Part> parts;
    };

    // Chunks by their address, while they are collected.
    class Collection {
        std::map<uintptr_t, Chunk> found;
        const bool of_memory;

       public:
        explicit Collection(bool of_memory) : of_memory{of_memory} {}

        void add(const uint8_t* data, uint64_t bytes, uint32_t component) {
            for (uint64_t k = 0; k < bytes; ++k) {
                const auto address = reinterpret_cast<uintptr_t>(data + k);
                const uint64_t place = address % SIZE;
                const uint64_t mask = uint64_t{0xFF} << 8 * place;
                Chunk& chunk = found[address - place];
                chunk.now = data + k - place;
                chunk.mask |= mask;
                auto& parts = chunk.parts;
                // Each word of a memory counts by itself, as it may be one that does not change.
                if ((k && place) ||
                    (!of_memory && !parts.empty() && parts.back().component == component))
                    parts.back().mask |= mask;
                else
                    parts.push_back({mask, component});
            }
        }

        std::vector<Chunk> chunks() const {
            std::vector<Chunk> all;
            for (const auto& [address, chunk] : found) {
                all.push_back(chunk);
                all.back().then = load(chunk.now) & chunk.mask;
            }
            return all;
        }
    };

    struct Memory {
        const uint8_t* now;
        std::vector<uint8_t> then;
        std::vector<Chunk> chunks;
    };

    static constexpr uint64_t SIZE = sizeof(uint64_t);

    const uint64_t components;
    const bool weight;
    std::vector<Chunk> registers;
    std::vector<Memory> memories;

    static uint64_t load(const uint8_t* from) {
        uint64_t found;
        std::memcpy(&found, from, SIZE);
        return found;
    }

    // With `always`, also what has not changed has a weight.
    void count(std::vector<Chunk>& chunks, bool always, uint16_t* sample) const {
        for (Chunk& chunk : chunks) {
            const uint64_t now = load(chunk.now) & chunk.mask;
            const uint64_t changed = now ^ chunk.then;
            if (!changed && !always) continue;
            for (const Part& part : chunk.parts)
                if (always || changed & part.mask)
                    sample[part.component] += std::popcount((weight ? now : changed) & part.mask);
            chunk.then = now;
        }
    }

   public:
    Activity(const Registers& all, const uint32_t* component_of, uint64_t components, bool weight)
        : components{components}, weight{weight} {
        Collection in_registers{false};
        for (uint64_t index = 0; index < all.size(); ++index) {
            const VerilatedVar& one = all[index];
            const uint8_t* data = all.word(index, 0);
            const uint64_t bytes = Registers::bytes(one);
            if (!one.udims()) {
                in_registers.add(data, bytes, component_of[index]);
                continue;
            }
            Collection words{true};
            for (uint64_t first = 0; first < bytes; first += one.entSize())
                words.add(data + first, one.entSize(), component_of[index]);
            memories.push_back({data, {data, data + bytes}, words.chunks()});
        }
        registers = in_registers.chunks();
    }

    // Append the sample of the last clock cycle: a number for each component, and their sum.
    void sample(std::vector<uint16_t>& samples) {
        samples.resize(samples.size() + components + 1);
        uint16_t* sample = &*(samples.end() - components - 1);
        count(registers, weight, sample);
        for (Memory& memory : memories)
            if (std::memcmp(memory.now, memory.then.data(), memory.then.size())) {
                std::copy_n(memory.now, memory.then.size(), memory.then.begin());
                count(memory.chunks, false, sample);
            }
        sample[components] = std::accumulate(sample, sample + components, 0);
    }
};
#endif

// Without threads that wait for work of models of many: of them a child after fork has none, and
// would wait for their end.
VerilatedContext* one_thread(VerilatedContext& context) {
    context.threads(1);
    return &context;
}

struct Simulation {
    VerilatedContext context;
    Vmodel model{one_thread(context)};
#ifdef REGISTERS
    Registers registers{context};
    uint64_t call_at = 0;          // what `cycles` is when `call` is due; 0: never
    uint64_t (*call)() = nullptr;  // gives the next `call_at`
    std::vector<uint16_t> samples;
#endif
    Nodes nodes;
    Randomness randomness;
    Noise noise;
    uint64_t cycles = 0;
    uint64_t access_limit;
#if VM_TRACE
    std::unique_ptr<VerilatedFstC> trace;
#endif

    Simulation(uint64_t limit, uint64_t length) : nodes{context, length}, access_limit{limit} {
        context.traceEverOn(VM_TRACE);
        model.s_axi_aclk = 0;
        idle();
        randomness.give(model, nullptr, 0);
        settle();
        reset();
    }

    ~Simulation() {
        // The list of registers is taken out of this one, which may be another model's by now.
        Verilated::threadContextp(&context);
        model.final();
    }

    void idle() {
        model.s_axi_awaddr = 0;
        model.s_axi_awprot = 0;
        model.s_axi_awvalid = 0;
        model.s_axi_wdata = 0;
        model.s_axi_wstrb = 0;
        model.s_axi_wvalid = 0;
        model.s_axi_bready = 0;
        model.s_axi_araddr = 0;
        model.s_axi_arprot = 0;
        model.s_axi_arvalid = 0;
        model.s_axi_rready = 0;
#ifdef BURSTS
        model.s_axi_awid = 0;
        model.s_axi_arid = 0;
#endif
    }

    void dump([[maybe_unused]] uint64_t half_cycle) {
#if VM_TRACE
        if (!trace) return;
        nodes.show(model);
        trace->dump(2 * cycles + half_cycle);
#endif
    }

    // A cycle is: inputs change and settle while the clock is low; it rises; all registers change.
    void settle() {
        nodes.fall(model);
        model.s_axi_aclk = 0;
        model.eval();
        dump(0);
    }

#ifdef REGISTERS
    // All logic anew from registers that were changed, as Verilator does it before the first cycle.
    void follow_registers() {
        Vmodel___024root___eval_settle(model.rootp);
        settle();
    }
#endif

    void count_cycle() {
        ++cycles;
#ifdef REGISTERS
        if (cycles == call_at) call_at = call();
#endif
    }

    void rise() {
        const bool taken = randomness.is_taken(model);
        nodes.rise(model);
        model.s_axi_aclk = 1;
        model.eval();
        dump(1);
        randomness.step(model, taken);
        noise.step(model);
        count_cycle();
    }

    void tick() {
#if defined(PREVIOUS_CLOCK) && !VM_TRACE
        // Nothing happens at the falling edge, so it is not evaluated: that the clock was low is
        // all that the model must know of it. And eval() of the root module without that of Vmodel
        // leaves out the locks for messages and garbage, of which there are none. Together they
        // take more than half of the time.
        const bool taken = randomness.is_taken(model);
        nodes.fall(model);
        nodes.rise(model);
        model.rootp->PREVIOUS_CLOCK = 0;
        model.s_axi_aclk = 1;
        Vmodel___024root___eval(model.rootp);
        randomness.step(model, taken);
        noise.step(model);
        count_cycle();
#else
        settle();
        rise();
#endif
    }

    void reset() {
        idle();
        model.s_axi_aresetn = 0;
        for (uint64_t n = 0; n < RESET_CYCLES; ++n) tick();
        model.s_axi_aresetn = 1;
        tick();
    }

    // Both move the words of one burst, 1 to MOST_BEATS, and give the worst response of all beats.
    int write(uint32_t address, const uint32_t* words, uint64_t count) {
        uint64_t sent = 0;
        model.s_axi_awaddr = address;
        model.s_axi_awvalid = 1;
        model.s_axi_wstrb = 0xF;
        model.s_axi_bready = 1;
#ifdef BURSTS
        model.s_axi_awlen = count - 1;
        model.s_axi_awsize = WORD;
        model.s_axi_awburst = INCR;
#endif
        for (uint64_t n = 0; n < access_limit; ++n) {
            model.s_axi_wvalid = sent < count;
            if (sent < count) model.s_axi_wdata = words[sent];
#ifdef BURSTS
            model.s_axi_wlast = sent == count - 1;
#endif
            settle();
            const bool address_taken = model.s_axi_awready;
            const bool data_taken = model.s_axi_wready;
            const bool answered = model.s_axi_bvalid;
            const int response = model.s_axi_bresp;
            rise();
            if (address_taken) model.s_axi_awvalid = 0;
            if (data_taken) ++sent;
            if (answered) {
                idle();
                return response;
            }
        }
        idle();
        return TIMEOUT;
    }

    int read(uint32_t address, uint32_t* words, uint64_t count) {
        uint64_t received = 0;
        int worst = 0;
        model.s_axi_araddr = address;
        model.s_axi_arvalid = 1;
        model.s_axi_rready = 1;
#ifdef BURSTS
        model.s_axi_arlen = count - 1;
        model.s_axi_arsize = WORD;
        model.s_axi_arburst = INCR;
#endif
        for (uint64_t n = 0; n < access_limit; ++n) {
            settle();
            const bool address_taken = model.s_axi_arready;
            const bool answered = model.s_axi_rvalid;
            const int response = model.s_axi_rresp;
            words[received] = model.s_axi_rdata;
            rise();
            if (address_taken) model.s_axi_arvalid = 0;
            if (answered) {
                worst = std::max(worst, response);
                if (++received == count) {
                    idle();
                    return worst;
                }
            }
        }
        idle();
        return TIMEOUT;
    }

    // Cut a block into bursts, up to the first one that is refused; `move` does one of them.
    int in_bursts(uint32_t address, uint64_t count, auto move) {
        int response = 0;
        for (uint64_t done = 0; done < count && response == 0; done += MOST_BEATS)
            response = move(address + 4 * done, done, std::min(count - done, MOST_BEATS));
        return response;
    }

#ifdef WIPED
    // All state of a model is in what its class has the symbols of.
    void forget() {
        overwrite(model.rootp->vlSymsp);
        nodes.forget();
    }
#endif

    bool wait_interrupt(uint64_t limit) {
        for (uint64_t n = 0; n < limit; ++n) {
            if (model.irq) return true;
            tick();
        }
        return model.irq;
    }
};

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

// `access_limit`: cycles after which a read or write, or a burst, without an answer is given up.
// `length`: how many nodes a chain has; 0 for what is not a chain. Null if this is out of range.
Simulation* coprime_create(uint64_t access_limit, uint64_t length) {
    return Nodes::holds(length) ? new Simulation(access_limit, length) : nullptr;
}

void coprime_destroy(Simulation* simulation) { delete simulation; }

#ifdef WIPED
// Overwrite the state in a child after fork. A thread of the parent may have been within a call, and
// hold the model's locks, which `coprime_destroy` would wait for: none is taken here, and no memory
// is returned. Nothing else may be called afterwards.
void coprime_forget(Simulation* simulation) { simulation->forget(); }
#endif

void coprime_reset(Simulation* simulation) { simulation->reset(); }

// Both give AXI's response (0: OKAY, 2: SLVERR, 3: DECERR), or -1 if there was none.
int coprime_read32(Simulation* simulation, uint32_t address, uint32_t* value) {
    return simulation->read(address, value, 1);
}

int coprime_write32(Simulation* simulation, uint32_t address, uint32_t value) {
    return simulation->write(address, &value, 1);
}

// The same for `count` registers behind each other: the response of the first one that is not OKAY.
int coprime_read_block(Simulation* simulation, uint32_t address, uint32_t* values, uint64_t count) {
    return simulation->in_bursts(address, count, [=](auto first, auto done, auto beats) {
        return simulation->read(first, values + done, beats);
    });
}

int coprime_write_block(Simulation* simulation, uint32_t address, const uint32_t* values,
                        uint64_t count) {
    return simulation->in_bursts(address, count, [=](auto first, auto done, auto beats) {
        return simulation->write(first, values + done, beats);
    });
}

// 1 as soon as irq is 1, after at most `limit` cycles; else 0.
int coprime_wait_interrupt(Simulation* simulation, uint64_t limit) {
    return simulation->wait_interrupt(limit);
}

void coprime_run(Simulation* simulation, uint64_t cycles) {
    for (uint64_t n = 0; n < cycles; ++n) simulation->tick();
}

uint64_t coprime_cycles(const Simulation* simulation) { return simulation->cycles; }

// The next random bytes, in place of any that were given before; after them come the system's.
void coprime_random(Simulation* simulation, const uint8_t* bytes, uint64_t count) {
    simulation->randomness.give(simulation->model, bytes, count);
}

// A model of the noise source, and its next samples, of 0 or 1 each: see noise.h.
void coprime_noise(Simulation* simulation, double ones, double stays, double drift,
                   uint32_t repeats, uint32_t period, uint64_t seed) {
    simulation->noise.set(ones, stays, drift, repeats, period, seed);
}

void coprime_give_noise(Simulation* simulation, const uint8_t* samples, uint64_t count) {
    simulation->noise.give(samples, count);
}

#ifdef REGISTERS
uint64_t coprime_registers(const Simulation* simulation) { return simulation->registers.size(); }

// The name of a register or a memory, with the bits of a word and how many words there are.
const char* coprime_register(const Simulation* simulation, uint64_t index, uint64_t* width,
                             uint64_t* words) {
    const VerilatedVar& found = simulation->registers[index];
    *width = found.entBits();
    *words = Registers::words(found);
    return found.name();
}

// A word as it is now; `bytes` has room for its bits, the lowest come first.
void coprime_peek(const Simulation* simulation, uint64_t index, uint64_t word, uint8_t* bytes,
                  uint64_t count) {
    std::copy_n(simulation->registers.word(index, word), count, bytes);
}

void coprime_poke(Simulation* simulation, uint64_t index, uint64_t word, const uint8_t* bytes,
                  uint64_t count) {
    std::copy_n(bytes, count, simulation->registers.word(index, word));
    simulation->follow_registers();
}

// All registers and memories, and how many random bytes have passed, as bytes to go back to; how
// many these are. Between two accesses that is all there is.
uint64_t coprime_state_bytes(const Simulation* simulation) {
    return simulation->registers.bytes() + sizeof(uint64_t);
}

void coprime_save(const Simulation* simulation, uint8_t* bytes) {
    const uint64_t passed = simulation->randomness.passed();
    std::memcpy(bytes, &passed, sizeof passed);
    simulation->registers.save(bytes + sizeof passed);
}

// With `chosen`, a byte for each register, only those that it has a 1 for.
void coprime_restore(Simulation* simulation, const uint8_t* bytes, const uint8_t* chosen) {
    uint64_t passed;
    std::memcpy(&passed, bytes, sizeof passed);
    simulation->registers.restore(bytes + sizeof passed, chosen);
    if (!chosen) simulation->randomness.go_to(simulation->model, passed);
    simulation->follow_registers();
}

// Whether the present state is this one.
int coprime_equals(const Simulation* simulation, const uint8_t* bytes) {
    uint64_t passed;
    std::memcpy(&passed, bytes, sizeof passed);
    return passed == simulation->randomness.passed() &&
           simulation->registers.equal(bytes + sizeof passed);
}

// Call a function as soon as this many cycles have passed, also within an access. It gives the
// number of cycles at which it is called again; 0: never.
void coprime_call_at(Simulation* simulation, uint64_t cycles, uint64_t (*call)()) {
    simulation->call = call;
    simulation->call_at = cycles;
}

// Run until irq is 1, at most `limit` cycles, and give how many these were. Each one leaves a sample
// of `components` + 1 numbers for coprime_samples; `component_of` has the component of each
// register, or `components` for one that does not count.
uint64_t coprime_record(Simulation* simulation, uint64_t limit, const uint32_t* component_of,
                        uint64_t components, int weight) {
    Activity activity{simulation->registers, component_of, components, weight != 0};
    simulation->samples.clear();
    uint64_t cycles = 0;
    for (; cycles < limit && !simulation->model.irq; ++cycles) {
        simulation->tick();
        activity.sample(simulation->samples);
    }
    return cycles;
}

// Copy what the last coprime_record has left.
void coprime_samples(const Simulation* simulation, uint16_t* to) {
    std::copy(simulation->samples.begin(), simulation->samples.end(), to);
}
#endif

#if VM_TRACE
// Write all signals to an FST file from now on; a half cycle is one time unit.
int coprime_trace_open(Simulation* simulation, const char* path) {
    simulation->trace = std::make_unique<VerilatedFstC>();
    simulation->model.trace(simulation->trace.get(), 99);
    simulation->trace->open(path);
    return simulation->trace->isOpen();
}

void coprime_trace_close(Simulation* simulation) {
    if (simulation->trace) simulation->trace->close();
    simulation->trace.reset();
}
#endif
}
#pragma GCC visibility pop
