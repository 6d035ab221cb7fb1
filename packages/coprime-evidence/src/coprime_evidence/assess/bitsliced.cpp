// A C interface around a bit-sliced accelerator: hundreds of runs of one command at once.
//
// Compiled together with netlist.h, which bitsliced.py writes: a bit of the circuit is a Slice, a
// vector that has this bit of every run, and a gate is one operation on Slices. What must be
// decided run by run, such as the word of a memory that an address selects, is decided once for all
// runs that agree.
//
// All inputs of the bus are idle; the runs begin after a command has been written, from states that
// Simulation (simulation.cpp) has saved, and end together, with the interrupt or before it.
//
// Run 0 is the reference: its samples are known, and compared. Of the others, sums of the powers of
// the difference from it are added up; a run that is the same as run 0 adds nothing.

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <vector>
#ifdef __AVX512F__
#include <immintrin.h>
#endif

#pragma GCC visibility push(hidden)
namespace {

constexpr uint64_t RUNS = 512;
constexpr uint64_t WORDS = RUNS / 64;
constexpr uint64_t MOST_PLANES = 16;

typedef uint64_t Slice __attribute__((vector_size(RUNS / 8)));

constexpr Slice ZERO{};
constexpr Slice ONES = ~ZERO;

// The function of two or three bits with this table; `a` is the highest bit of its index.
template <int TABLE>
inline Slice lut2(const Slice& a, const Slice& b) {
    constexpr int table = TABLE & 0xF;
    if constexpr (table == 0x0) return ZERO;
    if constexpr (table == 0x1) return ~(a | b);
    if constexpr (table == 0x2) return ~a & b;
    if constexpr (table == 0x3) return ~a;
    if constexpr (table == 0x4) return a & ~b;
    if constexpr (table == 0x5) return ~b;
    if constexpr (table == 0x6) return a ^ b;
    if constexpr (table == 0x7) return ~(a & b);
    if constexpr (table == 0x8) return a & b;
    if constexpr (table == 0x9) return ~(a ^ b);
    if constexpr (table == 0xA) return b;
    if constexpr (table == 0xB) return ~a | b;
    if constexpr (table == 0xC) return a;
    if constexpr (table == 0xD) return a | ~b;
    if constexpr (table == 0xE) return a | b;
    return ONES;
}

template <int TABLE>
inline Slice lut3(const Slice& a, const Slice& b, const Slice& c) {
#ifdef __AVX512F__
    return (Slice)_mm512_ternarylogic_epi64((__m512i)a, (__m512i)b, (__m512i)c, TABLE);
#else
    constexpr int low = TABLE & 0xF, high = TABLE >> 4;
    if constexpr (low == high) return lut2<low>(b, c);
    if constexpr (low == (~high & 0xF)) return a ^ lut2<low>(b, c);
    return lut2<low>(b, c) ^ (a & lut2<low ^ high>(b, c));
#endif
}

inline Slice sum(const Slice& a, const Slice& b, const Slice& c) { return lut3<0x96>(a, b, c); }
inline Slice carry(const Slice& a, const Slice& b, const Slice& c) { return lut3<0xE8>(a, b, c); }

inline bool any(const Slice& slice) {
    uint64_t found = 0;
    for (uint64_t k = 0; k < WORDS; ++k) found |= slice[k];
    return found;
}

inline bool bit_of(const Slice& slice, uint64_t run) { return slice[run / 64] >> run % 64 & 1; }

inline void set_bit(Slice& slice, uint64_t run, bool value) {
    const uint64_t mask = uint64_t{1} << run % 64;
    slice[run / 64] = value ? slice[run / 64] | mask : slice[run / 64] & ~mask;
}

// Call `word(index, runs)` for each word that any run selects by its address.
template <uint64_t ADDRESS_BITS>
void each_word(const Slice* address, Slice left, auto word) {
    while (true) {
        uint64_t run = RUNS;
        for (uint64_t k = 0; k < WORDS && run == RUNS; ++k)
            if (left[k]) run = 64 * k + std::countr_zero(left[k]);
        if (run == RUNS) return;
        uint64_t index = 0;
        Slice same = left;
        for (uint64_t k = 0; k < ADDRESS_BITS; ++k) {
            const bool bit = bit_of(address[k], run);
            index |= uint64_t{bit} << k;
            same &= bit ? address[k] : ~address[k];
        }
        word(index, same);
        left &= ~same;
    }
}

template <uint64_t WIDTH, uint64_t ADDRESS_BITS>
void read_memory(const Slice* memory, const Slice* address, Slice* data) {
    for (uint64_t k = 0; k < WIDTH; ++k) data[k] = ZERO;
    each_word<ADDRESS_BITS>(address, ONES, [=](uint64_t index, const Slice& runs) {
        for (uint64_t k = 0; k < WIDTH; ++k) data[k] |= memory[index * WIDTH + k] & runs;
    });
}

// `counted` gets the bits that change, or with `weight` those that are 1, of words that change.
template <uint64_t WIDTH, uint64_t ADDRESS_BITS>
void write_memory(Slice* memory, const Slice* address, const Slice* enable, const Slice* data,
                  bool weight, Slice* counted) {
    Slice writes = ZERO;
    for (uint64_t k = 0; k < WIDTH; ++k) {
        counted[k] = ZERO;
        writes |= enable[k];
    }
    each_word<ADDRESS_BITS>(address, writes, [=](uint64_t index, const Slice& runs) {
        Slice* word = memory + index * WIDTH;
        Slice changes = ZERO;
        Slice changed[WIDTH];
        for (uint64_t k = 0; k < WIDTH; ++k) {
            changed[k] = (word[k] ^ data[k]) & enable[k] & runs;
            changes |= changed[k];
        }
        for (uint64_t k = 0; k < WIDTH; ++k) {
            word[k] ^= changed[k];
            counted[k] |= weight ? word[k] & changes : changed[k];
        }
    });
}

}  // namespace

// REGISTERS, COLUMNS, MEMORY_BITS, WIRES, PLANES and FIRST_PLANE, and, in struct Circuit, the
// functions that compute a cycle.
#include "netlist.h"

namespace {

typedef double Doubles __attribute__((vector_size(64)));
typedef uint16_t Eight __attribute__((vector_size(16)));
typedef uint16_t Sixteen __attribute__((vector_size(32)));

constexpr uint64_t SIZE = sizeof(Doubles) / sizeof(double);
static_assert(RUNS % 16 == 0 && SIZE == 8);

// A number of each run, from its bits.
struct Numbers {
    alignas(64) uint16_t of[RUNS];

    Numbers(const Slice* planes, uint64_t count) {
        Sixteen bits;
        for (int k = 0; k < 16; ++k) bits[k] = uint16_t(1u << k);
        for (uint64_t group = 0; group < RUNS / 16; ++group) {
            Sixteen values{};
            for (uint64_t k = 0; k < count; ++k) {
                uint16_t sixteen;
                std::memcpy(&sixteen, reinterpret_cast<const char*>(planes + k) + 2 * group, 2);
                const Sixteen chosen = ((Sixteen{} + sixteen) & bits) == bits;
                values |= chosen & uint16_t(1u << k);
            }
            std::memcpy(of + 16 * group, &values, sizeof values);
        }
    }
};

struct Window {
    uint32_t column, first, end;
};

enum Outcome : int64_t { WRONG_REFERENCE = -1, OTHER_LENGTH = -2, NO_RANDOM_BYTES = -3 };

struct Sliced {
    Circuit circuit;
    std::vector<uint8_t> random[RUNS];
    uint64_t passed[RUNS]{};

    void show_random(uint64_t run) {
        const auto& bytes = random[run];
        const uint8_t byte = passed[run] < bytes.size() ? bytes[passed[run]] : 0;
        for (int k = 0; k < 8; ++k) set_bit(circuit.random[k], run, byte >> k & 1);
    }

    // False if a run has no byte left.
    bool take_random(const Slice& taken) {
        for (uint64_t k = 0; k < WORDS; ++k)
            for (uint64_t rest = taken[k]; rest; rest &= rest - 1) {
                const uint64_t run = 64 * k + std::countr_zero(rest);
                if (++passed[run] >= random[run].size()) return false;
                show_random(run);
            }
        return true;
    }
};

// Add powers of the runs' differences from a number; the first `split` runs are one group.
void add_powers(const Numbers& numbers, uint16_t reference, uint64_t split, uint64_t samples,
                int powers, double* fixed, double* other) {
    const uint64_t bounds[] = {0, split / SIZE, RUNS / SIZE};
    double* const groups[] = {fixed, other};
    for (int side = 0; side < 2; ++side) {
        Doubles sums[4]{};
        for (uint64_t group = bounds[side]; group < bounds[side + 1]; ++group) {
            Eight eight;
            std::memcpy(&eight, numbers.of + SIZE * group, sizeof eight);
            const Doubles difference = __builtin_convertvector(eight, Doubles) - reference;
            Doubles power = difference;
            sums[0] += power;
            for (int k = 1; k < 4; ++k) sums[k] += power *= difference;
        }
        for (int k = 0; k < powers; ++k) {
            double all = 0;
            for (uint64_t n = 0; n < SIZE; ++n) all += sums[k][n];
            groups[side][k * samples] += all;
        }
    }
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

Sliced* bitsliced_create() { return new Sliced; }

void bitsliced_destroy(Sliced* sliced) { delete sliced; }

uint64_t bitsliced_runs() { return RUNS; }

// Begin run `run` in a state. `places` has, for each bit of registers and memories, where in the
// state it is, counted in bits. `passed` of the `count` random bytes have passed.
void bitsliced_load(Sliced* sliced, uint64_t run, const uint8_t* state, const uint32_t* places,
                    const uint8_t* random, uint64_t count, uint64_t passed) {
    Circuit& circuit = sliced->circuit;
    const auto bit = [&](uint64_t n) { return state[places[n] / 8] >> places[n] % 8 & 1; };
    for (uint64_t n = 0; n < REGISTERS; ++n) set_bit(circuit.now[n], run, bit(n));
    for (uint64_t n = 0; n < MEMORY_BITS; ++n)
        set_bit(circuit.memory[n], run, bit(REGISTERS + n));
    sliced->random[run].assign(random, random + count);
    sliced->passed[run] = passed;
    sliced->show_random(run);
}

// Run for `cycles` cycles, before which no interrupt may come. Parameters:
//
// whole: whether all interrupts must come then
// reference: of run 0, numbers of COLUMNS components and their sum for each cycle
// split: how many runs, a multiple of 8, are the first group; run 0 may be in either
// first, end: the cycles whose samples are added up, (COLUMNS + 1) for each cycle
// powers: how many, at most 4
// fixed, other: for each power, from the first on, the sums of either group
// windows, values: `count` parts of columns whose numbers are copied: for each part and each of its
//     cycles, those of all runs
//
// Gives 0, or what is wrong (Outcome).
int64_t bitsliced_run(Sliced* sliced, uint64_t cycles, int whole, const uint16_t* reference,
                      int weight, uint64_t split, uint64_t first, uint64_t end, int powers, double* fixed, double* other,
                      const Window* windows, uint64_t count, uint16_t* values) {
    Circuit& circuit = sliced->circuit;
    const uint64_t samples = (end - first) * (COLUMNS + 1);
    for (uint64_t cycle = 0;; ++cycle) {
        circuit.compute();
        const Slice ended = circuit.interrupt();
        if (cycle == cycles) return whole && any(~ended) ? OTHER_LENGTH : 0;
        if (any(ended)) return OTHER_LENGTH;
        const Slice taken = circuit.random_taken();
        circuit.count(weight);
        if (any(taken) && !sliced->take_random(taken)) return NO_RANDOM_BYTES;
        for (uint64_t column = 0; column <= COLUMNS; ++column) {
            const Slice* planes = circuit.planes + FIRST_PLANE[column];
            const uint64_t width = FIRST_PLANE[column + 1] - FIRST_PLANE[column];
            uint16_t expected = 0;
            Slice differs = ZERO;
            for (uint64_t k = 0; k < width; ++k) {
                const bool bit = planes[k][0] & 1;
                expected |= uint16_t(bit << k);
                differs |= bit ? ~planes[k] : planes[k];
            }
            if (expected != reference[cycle * (COLUMNS + 1) + column]) return WRONG_REFERENCE;
            const bool summed = cycle >= first && cycle < end && any(differs);
            const auto covers = [=](const Window& one) {
                return one.column == column && cycle >= one.first && cycle < one.end;
            };
            if (!summed && std::none_of(windows, windows + count, covers)) continue;
            const Numbers numbers{planes, width};
            if (summed) {
                const uint64_t sample = (cycle - first) * (COLUMNS + 1) + column;
                add_powers(numbers, expected, split, samples, powers, fixed + sample,
                           other + sample);
            }
            uint16_t* to = values;
            for (const Window* one = windows; one < windows + count; ++one) {
                if (covers(*one))
                    std::copy_n(numbers.of, RUNS, to + (cycle - one->first) * RUNS);
                to += (one->end - one->first) * RUNS;
            }
        }
    }
}
}
#pragma GCC visibility pop
#pragma GCC visibility pop
