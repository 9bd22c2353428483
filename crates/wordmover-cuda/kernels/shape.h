// Shapes of the launches, for the kernels, the twin and (by hand, in src/plan.rs) the host.
#pragma once

#include "lanes.h"

// Pieces a list has room for: more than lists ever hold unless dual values start far off.
DEVICE int list_capacity(int n_sources, int n_sinks) {
    int capacity = 16 + n_sources / n_sinks + n_sources / (2 * n_sinks);
    return capacity < n_sources ? capacity : n_sources;
}

// Columns of a tile: those of its problems, in whole groups of four.
DEVICE int tile_width(int n_problems, int n_sinks) { return (n_problems * n_sinks + 3) / 4 * 4; }

// Units of mass for every unit of a document's weights: the sum stays below 2^30 and, where
// possible, splits evenly.
DEVICE int mass_factor(u32 total, int n_sinks) {
    u32 factor = (1u << 30) / total;
    if (factor < 1) factor = 1;
    if (factor >= (u32)n_sinks) factor -= factor % (u32)n_sinks;
    return (int)factor;
}

// Costs are multiples of 2^(exponent - COST_BITS): all are below 2^exponent. From the largest
// squared lengths of words and random words.
DEVICE int cost_exponent(double words, double random_words) {
    double bound = sqrt(words) + sqrt(random_words);
#ifdef WORDMOVER_TWIN
    u64 bits = bits_of(bound);
#else
    u64 bits = (u64)__double_as_longlong(bound);
#endif
    int exponent = (int)(bits >> 52) - 1023 + 1;
    return exponent < -900 ? -900 : exponent;
}

// 2^exponent, for exponents of normal numbers.
DEVICE double power_of_two(int exponent) {
    u64 bits = (u64)(exponent + 1023) << 52;
#ifdef WORDMOVER_TWIN
    return of_bits(bits);
#else
    return __longlong_as_double((long long)bits);
#endif
}

// Distances below this many units are not good to 1e-6 of their value for sure: see docs/gpu.md.
#define LEAST_UNITS 4194304.0
