// A C interface around a Verilated board with the pins clk, rx and tx: bytes go in and come out, bit
// by bit at the baud of a UART. With NOISE, it has a modelled noise source. All other inputs are 0.
//
// Compiled together with what Verilator makes of the board (class Vmodel). The clock ticks in here
// only. Times are in eighths of a clock cycle, as bits need not be whole cycles.

#include <cstdint>
#include <deque>
#include <memory>
#include <string>

#include "Vmodel.h"
#include "Vmodel___024root.h"
#include "noise.h"
#include "verilated.h"

void Vmodel___024root___eval(Vmodel___024root*);

namespace {

constexpr uint64_t PARTS = 8;
constexpr int FRAME = 10;  // bits of a byte: start, 8 of data, stop

// Sends frames of ten levels each, the first one in bit 0, one after the other.
struct Sender {
    uint64_t bit;  // length of a bit
    std::deque<uint16_t> waiting;
    uint64_t age = 0;
    bool sending = false;

    bool level() {
        if (!sending) {
            if (waiting.empty()) return true;
            sending = true;
            age = 0;
        }
        const bool now = waiting.front() >> (age / bit) & 1;
        age += PARTS;
        if (age >= FRAME * bit) {
            waiting.pop_front();
            age -= FRAME * bit;
            sending = !waiting.empty();
        }
        return now;
    }
};

// Receives bytes; a frame without its stop bit is counted and dropped.
struct Receiver {
    uint64_t bit;
    std::string received;
    uint64_t broken = 0;
    uint64_t age = 0;
    int next = -1;  // bit of the frame to be sampled next; -1: none is under way
    uint32_t frame = 0;

    void sample(bool wire) {
        if (next < 0) {
            if (wire) return;
            next = 0;
            age = 0;
            frame = 0;
        }
        age += PARTS;
        if (age < next * bit + bit / 2) return;
        frame |= uint32_t{wire} << next;
        if (++next < FRAME) return;
        if (frame >> (FRAME - 1) && !(frame & 1)) received.push_back(static_cast<char>(frame >> 1));
        else ++broken;
        next = -1;
    }
};

struct Board {
    VerilatedContext context;
    std::unique_ptr<Vmodel> model;
    Sender sender;
    Receiver receiver;
    Noise noise;
    uint64_t cycles = 0;
    uint64_t busy = 0;  // cycles in which a byte was on one of the wires

    explicit Board(uint64_t bit) {
        sender.bit = receiver.bit = bit;
        power_up();
        for (int n = 0; n < 64; ++n) tick();  // its own reset
    }

    ~Board() { model->final(); }

    // As if the bitstream had been loaded just now.
    void power_up() {
        if (model) model->final();
        model = std::make_unique<Vmodel>(&context);
        model->clk = 0;
        model->rx = 1;
        model->eval();
        receiver.next = -1;
    }

    void tick() {
        model->rx = sender.level();
#ifdef PREVIOUS_CLOCK
        // As in flow/simulation.cpp: nothing happens at the falling edge.
        model->rootp->PREVIOUS_CLOCK = 0;
        model->clk = 1;
        Vmodel___024root___eval(model->rootp);
#else
        model->clk = 0;
        model->eval();
        model->clk = 1;
        model->eval();
#endif
        noise.step(*model);
        receiver.sample(model->tx);
        ++cycles;
        busy += sender.sending || receiver.next >= 0;
    }

    // Let the clock run for so many cycles, or until bytes have come and both wires have been at
    // rest for the time of two bytes.
    void run(uint64_t limit) {
        uint64_t rest = 0;
        for (uint64_t n = 0; n < limit; ++n) {
            tick();
            if (sender.sending || receiver.next >= 0 || !sender.waiting.empty()) rest = 0;
            else rest += PARTS;
            if (!receiver.received.empty() && rest > 2 * FRAME * receiver.bit) return;
        }
    }
};

Board& board(void* handle) { return *static_cast<Board*>(handle); }

}  // namespace

#define EXPORT extern "C" __attribute__((visibility("default")))

// `bit` is the length of a bit in eighths of a clock cycle.
EXPORT void* coprime_board_create(uint64_t bit) { return new Board(bit); }

EXPORT void coprime_board_destroy(void* handle) { delete &board(handle); }

EXPORT void coprime_board_power_up(void* handle) { board(handle).power_up(); }

// Add frames of ten levels each to what is to be sent.
EXPORT void coprime_board_send(void* handle, const uint16_t* frames, uint64_t count) {
    auto& waiting = board(handle).sender.waiting;
    waiting.insert(waiting.end(), frames, frames + count);
}

EXPORT void coprime_board_run(void* handle, uint64_t limit) { board(handle).run(limit); }

// Take up to `size` of the bytes that have come; return how many.
EXPORT uint64_t coprime_board_take(void* handle, char* data, uint64_t size) {
    std::string& received = board(handle).receiver.received;
    const uint64_t count = received.copy(data, size);
    received.erase(0, count);
    return count;
}

// A model of the noise source, and its next samples, of 0 or 1 each: see noise.h.
EXPORT void coprime_board_noise(void* handle, double ones, double stays, double drift,
                                uint32_t repeats, uint32_t period, uint64_t seed) {
    board(handle).noise.set(ones, stays, drift, repeats, period, seed);
}

EXPORT void coprime_board_give_noise(void* handle, const uint8_t* samples, uint64_t count) {
    board(handle).noise.give(samples, count);
}

EXPORT uint64_t coprime_board_cycles(void* handle) { return board(handle).cycles; }

EXPORT uint64_t coprime_board_busy(void* handle) { return board(handle).busy; }

EXPORT uint64_t coprime_board_broken(void* handle) { return board(handle).receiver.broken; }
