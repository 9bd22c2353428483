// Groups of lanes that solve one problem together.
//
// On the device a group is G neighbouring threads of a warp, G a power of two up to 32. On
// the host (WORDMOVER_TWIN) it is G fibers that take turns: each runs until it must hear from
// the others, see twin.cpp. Everything else of the solver is the same source for both.
#pragma once

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;

#ifdef WORDMOVER_TWIN

#include <math.h>
#define DEVICE static inline

// Publishes a value of this lane, waits for all lanes of the group, and reads theirs.
void exchange(int lane, u64 value, u64 *all);

DEVICE int first_bit(u32 bits) { return __builtin_ctz(bits); }
DEVICE int bit_count(u32 bits) { return __builtin_popcount(bits); }
DEVICE u64 bits_of(double value) {
    u64 bits;
    __builtin_memcpy(&bits, &value, 8);
    return bits;
}
DEVICE double of_bits(u64 bits) {
    double value;
    __builtin_memcpy(&value, &bits, 8);
    return value;
}

template <int G> struct Lanes {
    int lane;

    u64 other(u64 value, int distance) const {
        u64 all[32];
        exchange(lane, value, all);
        return all[lane ^ distance];
    }
    int from(int value, int which) const {
        u64 all[32];
        exchange(lane, (u32)value, all);
        return (int)(u32)all[which];
    }
    // One bit per lane of the group.
    u32 ballot(bool is) const {
        u64 all[32];
        exchange(lane, is, all);
        u32 bits = 0;
        for (int i = 0; i < G; i++) bits |= (u32)all[i] << i;
        return bits;
    }
    // The lanes that have the same value.
    u32 same(int value) const {
        u64 all[32];
        exchange(lane, (u32)value, all);
        u32 bits = 0;
        for (int i = 0; i < G; i++) bits |= (u32)(all[i] == (u32)value) << i;
        return bits;
    }
    // Makes writes to shared memory visible to the group.
    void sync() const {
        u64 all[32];
        exchange(lane, 0, all);
    }
    int xor_int(int value, int distance) const { return (int)(u32)other((u32)value, distance); }
    float xor_float(float value, int distance) const {
        return (float)of_bits(other(bits_of(value), distance));
    }
    double xor_double(double value, int distance) const {
        return of_bits(other(bits_of(value), distance));
    }
#else

#define DEVICE static __device__ __forceinline__

DEVICE int first_bit(u32 bits) { return __ffs(bits) - 1; }
DEVICE int bit_count(u32 bits) { return __popc(bits); }

template <int G> struct Lanes {
    int lane;
    int base;
    u32 mask;

    __device__ __forceinline__ Lanes() {
        int in_warp = threadIdx.x % 32;
        lane = in_warp % G;
        base = in_warp - lane;
        mask = (G == 32 ? ~0u : (1u << (G % 32)) - 1) << base;
    }
    __device__ __forceinline__ int from(int value, int which) const {
        return __shfl_sync(mask, value, which, G);
    }
    // One bit per lane of the group.
    __device__ __forceinline__ u32 ballot(bool is) const {
        return (__ballot_sync(mask, is) & mask) >> base;
    }
    // The lanes that have the same value.
    __device__ __forceinline__ u32 same(int value) const {
        return (__match_any_sync(mask, value) & mask) >> base;
    }
    // Makes writes to shared memory visible to the group.
    __device__ __forceinline__ void sync() const { __syncwarp(mask); }
    __device__ __forceinline__ int xor_int(int value, int distance) const {
        return __shfl_xor_sync(mask, value, distance, G);
    }
    __device__ __forceinline__ float xor_float(float value, int distance) const {
        return __shfl_xor_sync(mask, value, distance, G);
    }
    __device__ __forceinline__ double xor_double(double value, int distance) const {
        return __shfl_xor_sync(mask, value, distance, G);
    }
#endif

    // Reductions; every lane gets the result, with the same bits.
#ifdef WORDMOVER_TWIN
#define MEMBER
#else
#define MEMBER __device__ __forceinline__
#endif
    MEMBER int sum(int value) const {
#pragma unroll
        for (int d = G / 2; d > 0; d /= 2) value += xor_int(value, d);
        return value;
    }
    MEMBER float sum(float value) const {
#pragma unroll
        for (int d = G / 2; d > 0; d /= 2) value += xor_float(value, d);
        return value;
    }
    MEMBER double sum(double value) const {
#pragma unroll
        for (int d = G / 2; d > 0; d /= 2) value += xor_double(value, d);
        return value;
    }
    MEMBER int least(int value) const {
#pragma unroll
        for (int d = G / 2; d > 0; d /= 2) {
            int other = xor_int(value, d);
            value = other < value ? other : value;
        }
        return value;
    }
    MEMBER int most(int value) const { return -least(-value); }
#undef MEMBER
};
