// The threads that solve one transport problem together: a warp, or a block of several.
//
// On the host (WORDMOVER_TWIN) they are fibers, each of which runs until it must wait for
// others, see twin_batch.cpp. Everything else of the solver is the same source for both.
#pragma once

#include "lanes.h"

typedef long long i64;

#ifdef WORDMOVER_TWIN

// Publishes a value of this lane among the `n` lanes from `first` on, waits until all of them
// have done so, and reads theirs.
void meet(int first, int n, int lane, u64 value, u64 *all);

DEVICE i64 to_integer(double value) { return llrint(value); }

template <bool IS_BLOCK> struct Team {
    int lane;
    int n_lanes;

    int first() const { return lane / 32 * 32; }
    int warp() const { return lane / 32; }
    int in_warp() const { return lane % 32; }
    // Makes writes visible to the whole team.
    void sync() const {
        u64 all[MOST_LANES];
        meet(0, n_lanes, lane, 0, all);
    }
    void sync_warp() const {
        u64 all[MOST_LANES];
        meet(first(), 32, lane, 0, all);
    }
    // One bit per lane of the warp.
    u32 ballot(bool is) const {
        u64 all[MOST_LANES];
        meet(first(), 32, lane, is, all);
        u32 bits = 0;
        for (int i = 0; i < 32; i++) bits |= (u32)all[i] << i;
        return bits;
    }
    int from(int value, int which) const {
        u64 all[MOST_LANES];
        meet(first(), 32, lane, (u32)value, all);
        return (int)(u32)all[which];
    }
    // The least of the warp.
    i64 least(i64 value) const {
        u64 all[MOST_LANES];
        meet(first(), 32, lane, (u64)value, all);
        for (int i = 0; i < 32; i++) value = (i64)all[i] < value ? (i64)all[i] : value;
        return value;
    }
};

#else

DEVICE i64 to_integer(double value) { return __double2ll_rn(value); }

template <bool IS_BLOCK> struct Team {
    int lane;
    int n_lanes;

    __device__ __forceinline__ Team() {
        lane = threadIdx.x;
        n_lanes = IS_BLOCK ? blockDim.x : 32;
    }
    __device__ __forceinline__ int warp() const { return IS_BLOCK ? lane / 32 : 0; }
    __device__ __forceinline__ int in_warp() const { return IS_BLOCK ? lane % 32 : lane; }
    // Makes writes visible to the whole team.
    __device__ __forceinline__ void sync() const {
        if (IS_BLOCK)
            __syncthreads();
        else
            __syncwarp();
    }
    __device__ __forceinline__ void sync_warp() const { __syncwarp(); }
    // One bit per lane of the warp.
    __device__ __forceinline__ u32 ballot(bool is) const { return __ballot_sync(~0u, is); }
    __device__ __forceinline__ int from(int value, int which) const {
        return __shfl_sync(~0u, value, which);
    }
    // The least of the warp.
    __device__ __forceinline__ i64 least(i64 value) const {
#pragma unroll
        for (int d = 16; d > 0; d /= 2) {
            i64 other = __shfl_xor_sync(~0u, value, d);
            value = other < value ? other : value;
        }
        return value;
    }
};

#endif
