// One exact transport of n sources onto at most D sinks of equal demand, by a group of lanes.
//
// The algorithm is that of crates/wordmover/src/transport/sink_graph, in integers: costs are
// multiples of a unit below 2^27, masses integers whose sum is at most 2^30 or little more,
// so that every sum fits 32 bits and is exact. While sources are looked at all together
// (`aim`, `assign`, `value`), lanes run over sources; in the graph of sinks they run over
// sinks, so there are at least as many lanes as sinks.
//
//   v[k]  <- the aim: weighted mean of C[.][k] - C[.][0], corrected twice
//   every source goes to the sink of least C[i][k] - v[k]
//   those that prefer theirs by a wide margin stay there: they are put aside
//   while some sink s holds more than its demand:
//       Dijkstra from s over the cheapest sources to move, to the first sink below its demand
//       dual values follow; mass moves along the path
//   if dual values have moved apart by more than the margin: again, with nobody put aside
//   the distance is the dual objective, in double precision, on the true weights
//
// The dual values are optimal for the integer masses. The dual objective of any dual values
// is a lower bound; docs/gpu.md says how far below the optimum it can be.
#pragma once

#include "lanes.h"

// Above every sum: see the proof in sink_graph/mod.rs, with P < 2^27.
#define FAR 0x7fffffff

// Loops over sources have large bodies already.
#ifdef WORDMOVER_TWIN
#define ROLLED
#else
#define ROLLED _Pragma("unroll 1")
#endif

// How much of the estimated correction of the aim is applied, first and then.
#define FIRST_STEP 0.9f
#define SECOND_STEP 0.5f

// The margin in mean gaps, times the root of sinks over sources; and how many sources for
// every sink it takes to put any aside.
#define MARGIN 2.0f
#define MANY 8

// Augmentations for every source and sink; no known problem comes near.
#define PATIENCE 64

// Bits of the largest cost.
#define COST_BITS 27

// What one problem needs of shared memory besides its costs.
template <int D> struct Scratch {
    int *masses;   // [D][capacity]: pieces of sources, by sink
    u16 *sources;  // [D][capacity]: whose they are
    int capacity;
    int *edges;    // [D][D]: the least cost of moving a source of the first sink to the second
    u16 *places;   // [D][D]: the place of that source in the list
    int *counts;   // [D]: lengths of the lists while they are made
};

// The problem: costs[i * stride + k]; sinks beyond n_sinks do not exist.
struct Problem {
    const int *costs;
    int stride;
    int n_sources;
    int n_sinks;
    const int *masses;
    int total;
    const double *weights;
};

enum Outcome { SOLVED, NO_ROOM, NO_WAY };

// D sinks or, unless IS_EXACT, at most D.
template <int D, int G, bool IS_EXACT> struct SinkGraph {
    Lanes<G> lanes;
    Problem given;
    Scratch<D> scratch;
    int n_sinks;

    // Dual values of the start, for all lanes alike.
    int aim[D];
    float gap;
    int margin;

    // Lane k has the list of sink k, its surplus, and how far its dual value has moved.
    int count;
    int surplus;
    int moved;
    int start;
    u32 edges_known;

#ifdef WORDMOVER_TWIN
#define MEMBER
#else
#define MEMBER __device__ __forceinline__
#endif

    MEMBER bool exists(int k) const { return IS_EXACT || k < n_sinks; }
    MEMBER int demand(int k) const {
        return given.total / n_sinks + (k < given.total % n_sinks ? 1 : 0);
    }

    // The weighted means of the costs beyond the first sink's.
    MEMBER void find_means() {
        float sums[D];
#pragma unroll
        for (int k = 0; k < D; k++) sums[k] = 0;
        ROLLED
        for (int i = lanes.lane; i < given.n_sources; i += G) {
            const int *row = given.costs + i * given.stride;
            float mass = (float)given.masses[i];
            int first = row[0];
#pragma unroll
            for (int k = 1; k < D; k++)
                if (exists(k)) sums[k] += mass * (float)(row[k] - first);
        }
        float total = (float)given.total;
        aim[0] = 0;
#pragma unroll
        for (int k = 1; k < D; k++) aim[k] = exists(k) ? (int)(lanes.sum(sums[k]) / total) : 0;
    }

    // Moves the aim towards balance, see sink_graph/start.rs.
    template <bool MEASURES_GAP> MEMBER void correct(float step) {
        int loads[D];
        float gaps = 0;
#pragma unroll
        for (int k = 0; k < D; k++) loads[k] = 0;
        ROLLED
        for (int i = lanes.lane; i < given.n_sources; i += G) {
            const int *row = given.costs + i * given.stride;
            int mass = given.masses[i], first = row[0];
            int reduced[D], least = 0, second = FAR;
#pragma unroll
            for (int k = 1; k < D; k++) {
                if (!exists(k)) continue;
                reduced[k] = row[k] - first - aim[k];
                if (MEASURES_GAP) {
                    int greater = reduced[k] > least ? reduced[k] : least;
                    second = greater < second ? greater : second;
                }
                least = reduced[k] < least ? reduced[k] : least;
            }
            if (MEASURES_GAP) gaps += (float)mass * (float)(second - least);
#pragma unroll
            for (int k = 1; k < D; k++)
                if (exists(k) && reduced[k] == least) loads[k] += mass;
        }
        float total = (float)given.total;
        if (MEASURES_GAP) gap = lanes.sum(gaps) / total;
        float one_by_demand = (float)n_sinks / total;
        float first_load = total;
        float excess[D];
#pragma unroll
        for (int k = 1; k < D; k++) {
            if (!exists(k)) continue;
            float load = (float)lanes.sum(loads[k]);
            first_load -= load;
            excess[k] = within_one(load * one_by_demand - 1.0f);
        }
        float first_excess = within_one(first_load * one_by_demand - 1.0f);
#pragma unroll
        for (int k = 1; k < D; k++) {
            if (!exists(k)) continue;
            int shift = (int)(step * gap * (excess[k] - first_excess));
            aim[k] = within(aim[k] - shift, (1 << COST_BITS) - 1);
        }
    }
    MEMBER static float within_one(float x) { return x < -1.0f ? -1.0f : x > 1.0f ? 1.0f : x; }
    MEMBER static int within(int x, int most) { return x < -most ? -most : x > most ? most : x; }

    // Every source to its best sink, the first of several; those within the margin into lists.
    MEMBER Outcome assign() {
        for (int k = lanes.lane; k < D; k += G) scratch.counts[k] = 0;
        lanes.sync();
        int loads[D];
#pragma unroll
        for (int k = 0; k < D; k++) loads[k] = 0;
        bool has_room = true;
        ROLLED
        for (int next = 0; next < given.n_sources; next += G) {
            int i = next + lanes.lane, home = -1, mass = 0;
            if (i < given.n_sources) {
                const int *row = given.costs + i * given.stride;
                int first = row[0], least = 0, second = FAR, best = 0;
                mass = given.masses[i];
#pragma unroll
                for (int k = 1; k < D; k++) {
                    if (!exists(k)) continue;
                    int reduced = row[k] - first - aim[k];
                    int greater = reduced > least ? reduced : least;
                    second = greater < second ? greater : second;
                    if (reduced < least) {
                        least = reduced;
                        best = k;
                    }
                }
#pragma unroll
                for (int k = 1; k < D; k++)
                    if (best == k) loads[k] += mass;
                if (margin == FAR || second - least < margin) home = best;
            }
            // Lanes with one home stand in its list in their order.
            u32 together = lanes.same(home);
            int rank = bit_count(together & ((1u << lanes.lane) - 1));
            int place = home < 0 ? 0 : scratch.counts[home] + rank;
            if (home >= 0 && place >= scratch.capacity) has_room = false;
            lanes.sync();
            if (home >= 0 && place < scratch.capacity) {
                scratch.masses[home * scratch.capacity + place] = mass;
                scratch.sources[home * scratch.capacity + place] = (u16)i;
                if (rank == 0) scratch.counts[home] = place + bit_count(together);
            }
            lanes.sync();
        }
        if (lanes.ballot(!has_room)) return NO_ROOM;
        int first_load = given.total;
        surplus = 0;
        start = 0;
#pragma unroll
        for (int k = 1; k < D; k++) {
            if (!exists(k)) continue;
            int load = lanes.sum(loads[k]);
            first_load -= load;
            if (lanes.lane == k) {
                surplus = load - demand(k);
                start = aim[k];
            }
        }
        if (lanes.lane == 0) surplus = first_load - demand(0);
        count = lanes.lane < n_sinks ? scratch.counts[lanes.lane] : 0;
        moved = 0;
        edges_known = 0;
        return SOLVED;
    }

    // The cheapest way to move a source from `sink` to each other sink.
    MEMBER void find_edges(int sink) {
        edges_known |= 1u << sink;
        int n = lanes.from(count, sink), dual = lanes.from(start, sink);
        int beyond = start - dual;
        int k = lanes.lane < n_sinks ? lanes.lane : 0;
        const u16 *sources = scratch.sources + sink * scratch.capacity;
        const int *costs = given.costs;
        int least = FAR, place = 0;
#pragma unroll 4
        for (int e = 0; e < n; e++) {
            const int *row = costs + sources[e] * given.stride;
            int change = row[k] - row[sink];
            if (change < least) {
                least = change;
                place = e;
            }
        }
        if (lanes.lane < n_sinks) {
            scratch.edges[sink * D + lanes.lane] = n == 0 ? FAR : least - beyond;
            scratch.places[sink * D + lanes.lane] = (u16)place;
        }
        lanes.sync();
    }

    // Lets a source that has come to `sink` compete for its edges.
    MEMBER void offer_edges(int sink, int source, int place) {
        if (!(edges_known >> sink & 1)) return;
        int dual = lanes.from(start, sink);
        if (lanes.lane < n_sinks) {
            const int *row = given.costs + source * given.stride;
            int change = row[lanes.lane] - row[sink] - (start - dual);
            int at = sink * D + lanes.lane;
            if (change < scratch.edges[at]) {
                scratch.edges[at] = change;
                scratch.places[at] = (u16)place;
            }
        }
        lanes.sync();
    }

    // Moves mass of a piece from one sink to another.
    MEMBER bool move_piece(int from, int to, int place, int amount) {
        int *masses = scratch.masses;
        u16 *sources = scratch.sources;
        int capacity = scratch.capacity;
        int at = from * capacity + place;
        int mass = masses[at], source = sources[at];
        int last = lanes.from(count, from) - 1, end = lanes.from(count, to);
        lanes.sync();
        if (mass == amount) {
            if (lanes.lane == 0) {
                masses[at] = masses[from * capacity + last];
                sources[at] = sources[from * capacity + last];
            }
            if (lanes.lane == from) count = last;
            edges_known &= ~(1u << from);
        } else if (lanes.lane == 0) {
            masses[at] = mass - amount;
        }
        // A source that was whole is in no other list.
        if (mass != given.masses[source]) {
                ROLLED
            for (int next = 0; next < end; next += G) {
                int e = next + lanes.lane;
                bool is_it = e < end && sources[to * capacity + e] == source;
                if (is_it) masses[to * capacity + e] += amount;
                if (lanes.ballot(is_it)) {
                    lanes.sync();
                    return true;
                }
            }
        }
        if (end >= capacity) return false;
        if (lanes.lane == 0) {
            masses[to * capacity + end] = amount;
            sources[to * capacity + end] = (u16)source;
        }
        if (lanes.lane == to) count = end + 1;
        lanes.sync();
        offer_edges(to, source, end);
        return true;
    }

    // Moves surplus of a sink to the nearest one below its demand.
    MEMBER Outcome augment(int from) {
        bool is_sink = lanes.lane < n_sinks;
        int distance = FAR, before = 0;
        bool is_open = is_sink;
        u32 wanting = lanes.ballot(is_sink && surplus < 0);
        int here = from, length = 0;
        for (;;) {
            if (!(edges_known >> here & 1)) find_edges(here);
            int base = length + lanes.from(moved, here);
            int edge = is_sink ? scratch.edges[here * D + lanes.lane] : FAR;
            int through = edge == FAR ? FAR : edge + base - moved;
            if (through < distance) {
                distance = through;
                before = here;
            }
            if (lanes.lane == here) is_open = false;
            int candidate = is_open ? distance : FAR;
            length = lanes.least(candidate);
            if (length == FAR) return NO_WAY;
            here = first_bit(lanes.ballot(candidate == length));
            if (wanting >> here & 1) break;
        }
        // Only what is nearer moves, the first sink by the whole length: it is 0 from itself.
        if (is_sink && distance < length) moved += distance - length;
        int target = here, n_steps = 0;
        int amount = lanes.from(surplus, from), room = -lanes.from(surplus, target);
        amount = room < amount ? room : amount;
        // Lane `q` remembers step `q` of the path.
        int step_from = 0, step_to = 0, step_place = 0;
        ROLLED
        while (here != from && n_steps < D) {
            int sink = lanes.from(before, here);
            int place = scratch.places[sink * D + here];
            int mass = scratch.masses[sink * scratch.capacity + place];
            amount = mass < amount ? mass : amount;
            if (lanes.lane == n_steps) {
                step_from = sink;
                step_to = here;
                step_place = place;
            }
            n_steps++;
            here = sink;
        }
        if (here != from) return NO_WAY;
        ROLLED
        for (int q = 0; q < n_steps; q++) {
            int sink = lanes.from(step_from, q), to = lanes.from(step_to, q);
            if (!move_piece(sink, to, lanes.from(step_place, q), amount)) return NO_ROOM;
        }
        if (lanes.lane == from) surplus -= amount;
        if (lanes.lane == target) surplus += amount;
        return SOLVED;
    }

    // Moves all surplus where it is wanted.
    MEMBER Outcome balance() {
        int left = PATIENCE * (given.n_sources + n_sinks);
        for (;;) {
            u32 overfull = lanes.ballot(lanes.lane < n_sinks && surplus > 0);
            if (!overfull) return SOLVED;
            if (left-- == 0) return NO_WAY;
            Outcome outcome = augment(first_bit(overfull));
            if (outcome != SOLVED) return outcome;
        }
    }

    // Whether no two dual values have moved apart by more.
    MEMBER bool has_moved_at_most(int most_apart) {
        bool is_sink = lanes.lane < n_sinks;
        int least = lanes.least(is_sink ? moved : FAR);
        return lanes.most(is_sink ? moved : -FAR) - least <= most_apart;
    }

    // Dual values as they are now become those of the next start.
    MEMBER void take_over() {
        int first = lanes.from(moved, 0);
#pragma unroll
        for (int k = 1; k < D; k++) {
            if (!exists(k)) continue;
            int change = lanes.from(moved, k) - first;
            aim[k] = within(aim[k] + change, (1 << COST_BITS) - 1);
        }
    }

    // The dual objective, in units of the costs.
    MEMBER double value() {
        // Not clamped: what the dual values are.
        int first = lanes.from(moved, 0);
        int duals[D];
        double of_sinks = 0;
#pragma unroll
        for (int k = 0; k < D; k++) {
            if (!exists(k)) continue;
            duals[k] = aim[k] + (k == 0 ? 0 : lanes.from(moved, k) - first);
            of_sinks += (double)duals[k];
        }
        double sum = 0;
        ROLLED
        for (int i = lanes.lane; i < given.n_sources; i += G) {
            const int *row = given.costs + i * given.stride;
            int least = row[0];
#pragma unroll
            for (int k = 1; k < D; k++) {
                if (!exists(k)) continue;
                int reduced = row[k] - duals[k];
                least = reduced < least ? reduced : least;
            }
            sum += given.weights[i] * (double)least;
        }
        return lanes.sum(sum) + of_sinks / (double)n_sinks;
    }

    // The distance in units of the costs, or a negative number if there was no room for it.
    MEMBER double solve() {
        moved = 0;
        find_means();
        correct<true>(FIRST_STEP);
        correct<false>(SECOND_STEP);
        margin = FAR;
        if (given.n_sources >= MANY * n_sinks)
            margin = (int)(MARGIN * gap * sqrtf((float)n_sinks / (float)given.n_sources));
        Outcome outcome;
        for (;;) {
            outcome = assign();
            if (outcome == SOLVED) outcome = balance();
            if (margin == FAR || (outcome == SOLVED && has_moved_at_most(margin))) break;
            // Where it ended is closer to the truth than where it began.
            if (outcome != NO_ROOM) take_over();
            margin = FAR;
        }
        return outcome == SOLVED ? value() : -1.0;
    }
#undef MEMBER
};
