// A model of a noise source at the ports noise_enable, noise_valid and noise_sample of a Verilated
// model: biased, correlated, and failing as it is told.

#ifndef COPRIME_NOISE_H
#define COPRIME_NOISE_H

#include <algorithm>
#include <cstdint>
#include <deque>
#include <random>

namespace {

#ifdef NOISE
class Noise {
    static constexpr unsigned MOST_LAGS = 64;

    std::random_device system;
    std::mt19937_64 seeded;
    bool is_seeded = false;
    double ones = 0.5;
    double stays = 0.5;
    double drift = 0;
    uint32_t period = 16;
    uint32_t repeats = 0;
    uint64_t waited = 0;
    uint64_t past = 0;  // the last MOST_LAGS samples, the last one in bit 0
    std::deque<uint8_t> given;

    // At least 0 and less than 1.
    double uniform() {
        const uint64_t word = is_seeded ? seeded() : uint64_t{system()} << 32 | system();
        return static_cast<double>(word >> 11) / static_cast<double>(uint64_t{1} << 53);
    }

    bool next() {
        if (!given.empty()) {
            const bool sample = given.front();
            given.pop_front();
            return sample;
        }
        if (repeats) return past >> (repeats - 1) & 1;
        ones = std::clamp(ones + drift, 0.0, 1.0);
        return uniform() < 2 * stays - 1 ? past & 1 : uniform() < ones;
    }

   public:
    // `ones`: the probability of a 1 where a sample is drawn; each is instead the one before with a
    // probability of 2 `stays` - 1. `drift` is added to `ones` at each sample. With `repeats`, a
    // sample is the one so many before. A sample comes every `period` cycles; 0: none comes.
    // `seed`: of what is drawn; 0: the system draws it.
    void set(double new_ones, double new_stays, double new_drift, uint32_t new_repeats,
             uint32_t new_period, uint64_t seed) {
        ones = new_ones;
        stays = new_stays;
        drift = new_drift;
        repeats = std::min(new_repeats, uint32_t{MOST_LAGS});
        period = new_period;
        is_seeded = seed != 0;
        seeded.seed(seed);
    }

    // The next samples, in place of any that were given before.
    void give(const uint8_t* samples, uint64_t count) { given.assign(samples, samples + count); }

    // After an edge of the clock: the inputs of the next one.
    template <class Model>
    void step(Model& model) {
        model.noise_valid = 0;
        if (!model.noise_enable) {
            waited = 0;
            return;
        }
        if (period == 0 || ++waited < period) return;
        waited = 0;
        const bool sample = next();
        past = past << 1 | sample;
        model.noise_valid = 1;
        model.noise_sample = sample;
    }
};
#else
struct Noise {
    void set(double, double, double, uint32_t, uint32_t, uint64_t) {}
    void give(const uint8_t*, uint64_t) {}
    template <class Model>
    void step(Model&) {}
};
#endif

}  // namespace

#endif
