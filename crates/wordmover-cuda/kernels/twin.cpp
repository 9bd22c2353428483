// The solver of the kernels, compiled for the host by the tests (tests/twin.rs): the same
// source, with the lanes of a group as fibers that take turns. A fiber runs until it must
// hear from the other lanes, then the next one runs; `reversed` lets the last lane go first,
// so that code which depends on the order of lanes gives itself away.

#define WORDMOVER_TWIN
#include "sink_graph.h"
#include "shape.h"

#include <ucontext.h>

#include <vector>

namespace {

struct Group {
    int n_lanes;
    bool is_reversed;
    ucontext_t caller;
    ucontext_t lanes[32];
    std::vector<char> stacks[32];
    u64 slots[2][32];
    int turns[32];
    int n_done;
};

thread_local Group *group;

int next_lane(int lane) {
    int step = group->is_reversed ? group->n_lanes - 1 : 1;
    return (lane + step) % group->n_lanes;
}

}  // namespace

void exchange(int lane, u64 value, u64 *all) {
    // Two sets of slots: the first lane goes on before the last has read.
    u64 *slots = group->slots[group->turns[lane]++ % 2];
    slots[lane] = value;
    if (group->n_lanes > 1) swapcontext(&group->lanes[lane], &group->lanes[next_lane(lane)]);
    for (int i = 0; i < group->n_lanes; i++) all[i] = slots[i];
}

namespace {

struct Call {
    Problem problem;
    int capacity;
    int *masses;
    u16 *sources;
    int *edges;
    u16 *places;
    int *counts;
    double result[32];
    void (*solve)(Call *, int);
};

template <int D, int G> void solve_lane(Call *call, int lane) {
    SinkGraph<D, G, (D <= 8)> graph;
    graph.lanes.lane = lane;
    graph.given = call->problem;
    graph.n_sinks = call->problem.n_sinks;
    graph.scratch.capacity = call->capacity;
    graph.scratch.masses = call->masses;
    graph.scratch.sources = call->sources;
    graph.scratch.edges = call->edges;
    graph.scratch.places = call->places;
    graph.scratch.counts = call->counts;
    call->result[lane] = graph.solve();
}

void run_lane(int low, int high, int lane) {
    Call *call = (Call *)((u64)(u32)low | (u64)(u32)high << 32);
    call->solve(call, lane);
    group->n_done++;
    setcontext(group->n_done == group->n_lanes ? &group->caller : &group->lanes[next_lane(lane)]);
}

template <int D, int G> double solve(Call &call, bool is_reversed) {
    static thread_local Group memory;
    group = &memory;
    group->n_lanes = G;
    group->is_reversed = is_reversed;
    group->n_done = 0;
    call.solve = solve_lane<D, G>;
    for (int lane = 0; lane < G; lane++) {
        group->turns[lane] = 0;
        group->stacks[lane].resize(1 << 16);
        ucontext_t &context = group->lanes[lane];
        getcontext(&context);
        context.uc_stack.ss_sp = group->stacks[lane].data();
        context.uc_stack.ss_size = group->stacks[lane].size();
        context.uc_link = nullptr;
        makecontext(&context, (void (*)())run_lane, 3, (int)(u64)&call, (int)((u64)&call >> 32), lane);
    }
    swapcontext(&group->caller, &group->lanes[is_reversed ? G - 1 : 0]);
    for (int lane = 1; lane < G; lane++)
        if (bits_of(call.result[lane]) != bits_of(call.result[0])) return -2;
    return call.result[0];
}

}  // namespace

// The distance in units of the costs; -1 if lists of `capacity` (0: what kernels take) had no
// room for the problem, -2 if lanes disagree, -3 if there is no such group.
extern "C" double twin_solve(
    const int *costs, int stride, int n_sources, int n_sinks, const u32 *masses,
    const double *weights, int capacity, int n_lanes, int is_reversed
) {
    u32 total = 0;
    for (int i = 0; i < n_sources; i++) total += masses[i];
    int factor = mass_factor(total, n_sinks);
    std::vector<int> units(n_sources);
    for (int i = 0; i < n_sources; i++) units[i] = (int)masses[i] * factor;
    if (capacity == 0) capacity = list_capacity(n_sources, n_sinks);
    std::vector<int> pieces(32 * capacity), edges(32 * 32), counts(32);
    std::vector<u16> sources(32 * capacity), places(32 * 32);
    Call call;
    call.problem = {costs,        stride,  n_sources, n_sinks, units.data(), (int)total * factor,
                    weights};
    call.capacity = capacity;
    call.masses = pieces.data();
    call.sources = sources.data();
    call.edges = edges.data();
    call.places = places.data();
    call.counts = counts.data();
#define GROUP(D, G)                                                                            \
    if ((D <= 8 ? n_sinks == D : n_sinks > 8 && n_sinks <= D) && n_lanes == G)                 \
        return solve<D, G>(call, is_reversed);
    GROUP(2, 2) GROUP(2, 8) GROUP(3, 4) GROUP(3, 16) GROUP(4, 4) GROUP(4, 16) GROUP(5, 8)
    GROUP(5, 32) GROUP(6, 8) GROUP(6, 32) GROUP(7, 8) GROUP(7, 32) GROUP(8, 8) GROUP(8, 32)
    GROUP(16, 16) GROUP(16, 32) GROUP(32, 32)
    return -3;
}

// What src/plan.rs computes too.
extern "C" int twin_list_capacity(int n_sources, int n_sinks) {
    return list_capacity(n_sources, n_sinks);
}
extern "C" int twin_cost_exponent(double words, double random_words) {
    return cost_exponent(words, random_words);
}
