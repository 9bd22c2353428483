// The kernels. make_ptx.py compiles them to PTX, in two parts: everything for up to 8 sinks,
// and (MANY_SINKS) what more sinks need, so that only those wait for it. The solver they share
// is compiled for the host too (twin.cpp).

#include "sink_graph.h"
#include "shape.h"

DEVICE int exponent_of(const u64 *longest) {
    return cost_exponent(
        __longlong_as_double((long long)longest[0]), __longlong_as_double((long long)longest[1])
    );
}

#ifndef MANY_SINKS

// ---------------------------------------------------------------------------------------
// Squared lengths of vectors: in double precision, coordinate after coordinate, then rounded;
// NaN where single precision cannot hold what is summed (ground/product.rs).
extern "C" __global__ void squared_lengths(
    const float *vectors, u32 n, u32 dim, float *squares
) {
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float *vector = vectors + (u64)i * dim;
    double sum = 0;
    for (u32 k = 0; k < dim; k++) {
        double x = vector[k];
        sum = __dadd_rn(sum, __dmul_rn(x, x));
    }
    bool is_fit = sum == 0 || (sum >= 1e-24 && sum < 1e24);
    squares[i] = is_fit ? (float)sum : __int_as_float(0x7fffffff);
}

// ---------------------------------------------------------------------------------------
// Ground costs, as multiples of their unit: the bits of ground/product.rs, whose sums are not
// fused and go through the coordinates in their order. 128 x 128 costs a block, 8 x 8 a thread.
#define TILE 128
#define DEPTH 8

extern "C" __global__ void __launch_bounds__(256) ground_costs(
    const float *words, const float *word_squares, u32 n_words,
    const float *columns, const float *column_squares, u32 n_columns,
    u32 dim, const u64 *longest, int *table
) {
    __shared__ float rows[DEPTH][TILE + 4];
    __shared__ float cols[DEPTH][TILE + 4];
    u32 row0 = blockIdx.y * TILE, col0 = blockIdx.x * TILE;
    u32 thread = threadIdx.x, across = thread % 16, down = thread / 16;
    float sums[8][8];
#pragma unroll
    for (int r = 0; r < 8; r++)
#pragma unroll
        for (int c = 0; c < 8; c++) sums[r][c] = 0;
    for (u32 k0 = 0; k0 < dim; k0 += DEPTH) {
#pragma unroll
        for (u32 e = thread; e < TILE * DEPTH; e += 256) {
            u32 i = e / DEPTH, k = e % DEPTH;
            bool is_in = k0 + k < dim;
            rows[k][i] = is_in && row0 + i < n_words ? words[(u64)(row0 + i) * dim + k0 + k] : 0;
            cols[k][i] =
                is_in && col0 + i < n_columns ? columns[(u64)(col0 + i) * dim + k0 + k] : 0;
        }
        __syncthreads();
        // Coordinates beyond the last would add zeros, which can change the sign of a zero at
        // most; they do not change a cost.
#pragma unroll
        for (int k = 0; k < DEPTH; k++) {
            float a[8], b[8];
#pragma unroll
            for (int half = 0; half < 2; half++) {
                float4 x = *(const float4 *)&rows[k][64 * half + 4 * down];
                float4 y = *(const float4 *)&cols[k][64 * half + 4 * across];
                a[4 * half] = x.x, a[4 * half + 1] = x.y, a[4 * half + 2] = x.z, a[4 * half + 3] = x.w;
                b[4 * half] = y.x, b[4 * half + 1] = y.y, b[4 * half + 2] = y.z, b[4 * half + 3] = y.w;
            }
#pragma unroll
            for (int r = 0; r < 8; r++)
#pragma unroll
                for (int c = 0; c < 8; c++)
                    sums[r][c] = __fadd_rn(sums[r][c], __fmul_rn(a[r], b[c]));
        }
        __syncthreads();
    }
    double scale = power_of_two(COST_BITS - exponent_of(longest));
    u64 near = 0;
#pragma unroll
    for (int r = 0; r < 8; r++) {
        u32 i = row0 + 64 * (r / 4) + 4 * down + r % 4;
        if (i >= n_words) continue;
        float word_square = word_squares[i];
        int costs[8];
#pragma unroll
        for (int c = 0; c < 8; c++) {
            u32 j = col0 + 64 * (c / 4) + 4 * across + c % 4;
            float squares = __fadd_rn(word_square, j < n_columns ? column_squares[j] : 0.0f);
            float squared = __fsub_rn(squares, 2.0f * sums[r][c]);
            costs[c] = __double2int_rn((double)__fsqrt_rn(squared) * scale);
            if (!(squared > 0.5f * squares)) near |= 1ull << (8 * r + c);
        }
#pragma unroll
        for (int half = 0; half < 2; half++) {
            u32 j = col0 + 64 * half + 4 * across;
            // The number of columns is a multiple of four.
            if (j < n_columns)
                *(int4 *)&table[(u64)i * n_columns + j] = make_int4(
                    costs[4 * half], costs[4 * half + 1], costs[4 * half + 2], costs[4 * half + 3]
                );
        }
    }
    // Near pairs once more: from differences, in double precision.
    while (near) {
        u32 bit = __ffsll((long long)near) - 1, r = bit / 8, c = bit % 8;
        near &= near - 1;
        u32 i = row0 + 64 * (r / 4) + 4 * down + r % 4;
        u32 j = col0 + 64 * (c / 4) + 4 * across + c % 4;
        if (i >= n_words || j >= n_columns) continue;
        const float *a = words + (u64)i * dim, *b = columns + (u64)j * dim;
        double sum = 0;
#pragma unroll 1
        for (u32 k = 0; k < dim; k++) {
            double x = (double)a[k] - (double)b[k];
            sum = __dadd_rn(sum, __dmul_rn(x, x));
        }
        table[(u64)i * n_columns + j] = __double2int_rn(sqrt(sum) * scale);
    }
}

#endif

// ---------------------------------------------------------------------------------------
// What all solving kernels take. Random documents of one length D stand in tiles of P
// problems; a tile's columns of the table are beside each other.
struct Work {
    const int *table;          // [words][pitch]
    u32 pitch;
    u32 first_column;          // of the first tile
    const u64 *longest;
    // Documents: rows of the table, weights as integers and as they are.
    const u64 *starts;
    const u32 *rows;
    const u32 *masses;
    const u32 *totals;         // sums of the integer weights
    const double *weights;
    const u32 *documents;      // which of them, for block x
    // Random documents: column of the output, or ~0 for none.
    const u32 *targets;        // [tiles][P]
    u32 n_tiles;
    u32 tiles_per_block;
    u32 n_sinks;
    float *distances;          // [documents][n_targets]
    u32 n_targets;
    u32 first_document;        // row 0 of the output
    // Problems for which there was no room: document, column, sinks, target.
    uint4 *again;
    u32 *n_again;
    u32 most_again;
    u32 shared_bytes;
    u32 *n_failed;
};

DEVICE double unit_of(const Work &work) {
    return power_of_two(exponent_of(work.longest) - COST_BITS);
}

DEVICE void write_distance(
    const Work &work, u32 document, u32 target, double units, double unit
) {
    float distance = __int_as_float(0x7fffffff);
    if (units >= LEAST_UNITS)
        distance = (float)(units * unit);
    else
        atomicAdd(work.n_failed, 1u);
    work.distances[(u64)(document - work.first_document) * work.n_targets + target] = distance;
}

#ifndef MANY_SINKS
// One sink takes everything: a thread a problem, lanes along the columns of a tile.
extern "C" __global__ void __launch_bounds__(128) solve_one_sink(Work work) {
    u32 document = work.documents[blockIdx.x];
    u64 start = work.starts[document];
    u32 n = (u32)(work.starts[document + 1] - start);
    u32 problem = blockIdx.y * blockDim.x + threadIdx.x;
    if (problem >= work.n_tiles) return;
    u32 target = work.targets[problem];
    if (target == ~0u) return;
    const int *column = work.table + work.first_column + problem;
    double sum = 0;
    for (u32 i = 0; i < n; i++) {
        int cost = column[(u64)work.rows[start + i] * work.pitch];
        sum += work.weights[start + i] * (double)cost;
    }
    write_distance(work, document, target, sum, unit_of(work));
}
#endif

extern __shared__ __align__(16) char shared_memory[];

template <int D> DEVICE char *scratch_at(char *at, int n_sinks, int capacity, Scratch<D> &scratch) {
    scratch.capacity = capacity;
    scratch.masses = (int *)at;
    at += 4 * n_sinks * capacity;
    scratch.edges = (int *)at;
    at += 4 * D * n_sinks;
    scratch.counts = (int *)at;
    at += 4 * D;
    scratch.places = (u16 *)at;
    at += 2 * D * n_sinks;
    scratch.sources = (u16 *)at;
    at += 2 * n_sinks * capacity;
    return (char *)(((u64)at + 3) / 4 * 4);
}

// P problems at a time by G lanes each, all of one document; D sinks or, above 8, at most D.
template <int D, int G, int P> DEVICE void solve_tiles(const Work &work) {
    constexpr int THREADS = G * P;
    int n_sinks = D <= 8 ? D : (int)work.n_sinks;
    int width = tile_width(P, n_sinks);
    u32 document = work.documents[blockIdx.x];
    u64 start = work.starts[document];
    int n = (int)(work.starts[document + 1] - start);
    int problem = threadIdx.x / G;

    char *at = shared_memory;
    double *weights = (double *)at;
    at += 8 * n;
    int *tile = (int *)(((u64)at + 15) / 16 * 16);
    int *masses = tile + n * width;
    u32 *rows = (u32 *)(masses + n);
    at = (char *)(rows + n);
    int capacity = list_capacity(n, n_sinks);
    SinkGraph<D, G, (D <= 8)> graph;
    Scratch<D> first;
    char *end = scratch_at<D>(at, n_sinks, capacity, first);
    scratch_at<D>(at + problem * (end - at), n_sinks, capacity, graph.scratch);

    u32 total = work.totals[document];
    int factor = mass_factor(total, n_sinks);
    for (int i = threadIdx.x; i < n; i += THREADS) {
        rows[i] = work.rows[start + i];
        masses[i] = (int)work.masses[start + i] * factor;
        weights[i] = work.weights[start + i];
    }
    graph.n_sinks = n_sinks;
    graph.given.costs = tile + problem * n_sinks;
    graph.given.stride = width;
    graph.given.n_sources = n;
    graph.given.n_sinks = n_sinks;
    graph.given.masses = masses;
    graph.given.total = (int)total * factor;
    graph.given.weights = weights;

    double unit = unit_of(work);
    u32 first_tile = blockIdx.y * work.tiles_per_block;
    u32 last_tile = first_tile + work.tiles_per_block;
    if (last_tile > work.n_tiles) last_tile = work.n_tiles;
    for (u32 t = first_tile; t < last_tile; t++) {
        __syncthreads();
        const int *columns = work.table + work.first_column + t * width;
        int fours = width / 4;
#pragma unroll 4
        for (int e = threadIdx.x; e < n * fours; e += THREADS) {
            int i = e / fours, c = e - i * fours;
            ((int4 *)tile)[e] = __ldg((const int4 *)(columns + (u64)rows[i] * work.pitch) + c);
        }
        __syncthreads();
        u32 target = work.targets[t * P + problem];
        if (target != ~0u) {
            double units = graph.solve();
            if (graph.lanes.lane == 0) {
                u32 place = work.most_again;
                if (units < 0) place = atomicAdd(work.n_again, 1u);
                if (units < 0 && place < work.most_again)
                    work.again[place] = make_uint4(
                        document, work.first_column + t * width + problem * n_sinks, n_sinks, target
                    );
                else
                    write_distance(work, document, target, units, unit);
            }
        }
    }
}

#define SOLVE(D, G, P)                                                                         \
    extern "C" __global__ void __launch_bounds__(G *P) solve_##D##_by_##G(Work work) {         \
        solve_tiles<D, G, P>(work);                                                            \
    }

// For documents of ordinary length a warp takes several problems; long ones fill shared
// memory, so that four warps share theirs.
#ifndef MANY_SINKS
SOLVE(2, 2, 16)
SOLVE(2, 8, 16)
SOLVE(3, 4, 8)
SOLVE(3, 16, 8)
SOLVE(4, 4, 8)
SOLVE(4, 16, 8)
SOLVE(5, 8, 4)
SOLVE(5, 32, 4)
SOLVE(6, 8, 4)
SOLVE(6, 32, 4)
SOLVE(7, 8, 4)
SOLVE(7, 32, 4)
SOLVE(8, 8, 4)
SOLVE(8, 32, 4)
#else
SOLVE(16, 16, 2)
SOLVE(16, 32, 2)
SOLVE(32, 32, 1)
#endif
#ifndef MANY_SINKS
#define MOST_SINKS 8
#else
#define MOST_SINKS 32
#endif

// Problems for which lists had no room, with all the room there is: a warp a problem.
extern "C" __global__ void __launch_bounds__(32) solve_again(Work work) {
    u32 n_again = *work.n_again < work.most_again ? *work.n_again : work.most_again;
    for (u32 at = blockIdx.x; at < n_again; at += gridDim.x) {
        __syncwarp();
        uint4 problem = work.again[at];
        // Others are for the other part of the kernels.
        if ((problem.z > 8) != (MOST_SINKS > 8)) continue;
        u32 document = problem.x;
        int n_sinks = (int)problem.z;
        u64 start = work.starts[document];
        int n = (int)(work.starts[document + 1] - start);
        double *weights = (double *)shared_memory;
        int *tile = (int *)(weights + n);
        int *masses = tile + n * n_sinks;
        char *end = (char *)(masses + n);
        SinkGraph<MOST_SINKS, 32, false> graph;
        int room = (int)(shared_memory + work.shared_bytes - end) - (6 * 32 * n_sinks + 4 * 32 + 8);
        int capacity = room < 0 ? 0 : room / (6 * n_sinks);
        capacity = capacity < n ? capacity : n;
        double units = -1;
        if (capacity > 0) {
            scratch_at<MOST_SINKS>(end, n_sinks, capacity, graph.scratch);
            u32 total = work.totals[document];
            int factor = mass_factor(total, n_sinks);
            for (int i = threadIdx.x; i < n; i += 32) {
                masses[i] = (int)work.masses[start + i] * factor;
                weights[i] = work.weights[start + i];
                const int *row = work.table + (u64)work.rows[start + i] * work.pitch + problem.y;
                for (int k = 0; k < n_sinks; k++) tile[i * n_sinks + k] = row[k];
            }
            __syncwarp();
            graph.n_sinks = n_sinks;
            graph.given.costs = tile;
            graph.given.stride = n_sinks;
            graph.given.n_sources = n;
            graph.given.n_sinks = n_sinks;
            graph.given.masses = masses;
            graph.given.total = (int)total * factor;
            graph.given.weights = weights;
            units = graph.solve();
        }
        if (threadIdx.x == 0) write_distance(work, document, problem.w, units, unit_of(work));
    }
}
