// A C interface around a Verilated system: load a program, let it run, hear what its UART says.
//
// Compiled together with what Verilator makes of the system (class Vmodel). The clock ticks in here
// only; the cycles counted are those since the processor was let go.

#include <cstdint>
#include <random>
#include <string>

#include "Vmodel.h"
#include "Vmodel___024root.h"
#include "verilated.h"

void Vmodel___024root___eval(Vmodel___024root*);

namespace {

enum State : int { RUNNING = 0, ENDED = 1, FAULT = 2 };

// Hears 8N1 frames on a wire that is sampled once a clock cycle.
class Receiver {
    static constexpr uint64_t BITS = 10;  // start, 8 of data, stop
    uint64_t divisor;
    uint64_t age = 0;  // cycles since the start bit's edge; 0 between frames
    uint32_t frame = 0;

   public:
    std::string text;
    uint64_t broken = 0;  // frames whose start or stop bit was wrong

    explicit Receiver(uint64_t cycles_of_a_bit) : divisor{cycles_of_a_bit} {}

    void sample(bool wire) {
        if (age == 0) {
            if (wire) return;
            frame = 0;
        }
        ++age;
        const uint64_t bit = age / divisor;
        if (age % divisor != divisor / 2) return;
        frame |= uint32_t{wire} << bit;
        if (bit < BITS - 1) return;
        if ((frame & 1) != 0 || !wire) ++broken;
        else text.push_back(static_cast<char>(frame >> 1 & 0xFF));
        age = 0;
    }
};

struct System {
    VerilatedContext context;
    Vmodel model{&context};
    Receiver receiver;
    std::mt19937 random;  // from the same seed each time, so that cycles are reproducible
    uint64_t cycles = 0;

    explicit System(uint64_t divisor) : receiver{divisor} {
        model.clk = 0;
        model.rst = 0;
        model.run = 0;
        model.load = 0;
        model.load_address = 0;
        model.load_data = 0;
        model.random = 0;
        model.eval();
        for (int n = 0; n < 8; ++n) tick();
    }

    ~System() { model.final(); }

    void tick() {
        model.random = random() & 0xFF;
#ifdef PREVIOUS_CLOCK
        // As in flow/simulation.cpp: nothing happens at the falling edge.
        model.rootp->PREVIOUS_CLOCK = 0;
        model.clk = 1;
        Vmodel___024root___eval(model.rootp);
#else
        model.clk = 0;
        model.eval();
        model.clk = 1;
        model.eval();
#endif
    }

    void load(uint64_t word, const uint32_t* words, uint64_t count) {
        model.run = 0;
        model.load = 1;
        for (uint64_t n = 0; n < count; ++n) {
            model.load_address = word + n;
            model.load_data = words[n];
            tick();
        }
        model.load = 0;
    }

    int run(uint64_t limit) {
        model.run = 1;
        for (uint64_t n = 0; n < limit; ++n) {
            tick();
            ++cycles;
            receiver.sample(model.tx);
            if (model.fault) return FAULT;
            if (model.trap) return ENDED;
        }
        return RUNNING;
    }
};

System& system(void* handle) { return *static_cast<System*>(handle); }

}  // namespace

#define EXPORT extern "C" __attribute__((visibility("default")))

EXPORT void* coprime_system_create(uint64_t divisor) { return new System(divisor); }

EXPORT void coprime_system_destroy(void* handle) { delete &system(handle); }

// Hold the processor in reset and write words to its memory, from the word of this number on.
EXPORT void coprime_system_load(void* handle, uint64_t word, const uint32_t* words,
                                uint64_t count) {
    system(handle).load(word, words, count);
}

// Let the processor run for at most so many cycles; give its state.
EXPORT int coprime_system_run(void* handle, uint64_t limit) { return system(handle).run(limit); }

EXPORT uint64_t coprime_system_cycles(void* handle) { return system(handle).cycles; }

// Everything that the UART has sent, and its length in bytes.
EXPORT const char* coprime_system_text(void* handle, uint64_t* length) {
    const std::string& text = system(handle).receiver.text;
    *length = text.size();
    return text.data();
}

EXPORT uint64_t coprime_system_broken(void* handle) { return system(handle).receiver.broken; }
