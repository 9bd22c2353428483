// The solver of batch.cu, compiled for the host by the tests (tests/twin_batch.rs): the same
// source, with the threads of a block as fibers. A fiber runs until it must wait for others,
// then the next one runs; `reversed` lets the last go first, so that code which depends on the
// order of threads gives itself away.

#define WORDMOVER_TWIN
#define MOST_LANES 128
#include "shortest_paths.h"

#include <setjmp.h>
#include <ucontext.h>

#include <vector>

namespace {

// Lanes that wait for each other: those of a warp (by its number), or all (the last).
struct Meeting {
    int n_arrived;
    int number;
    u64 values[2][MOST_LANES];
};

struct Block {
    int n_lanes;
    bool is_reversed;
    ucontext_t caller;
    ucontext_t starts[MOST_LANES];
    jmp_buf lanes[MOST_LANES];
    bool is_started[MOST_LANES];
    std::vector<char> stacks[MOST_LANES];
    bool is_done[MOST_LANES];
    // What each lane waits for, and since which of its numbers.
    Meeting *waits_for[MOST_LANES];
    int since[MOST_LANES];
    int n_done;
    Meeting meetings[MOST_LANES / 32 + 1];
};

thread_local Block *block;

int next_lane(int lane) {
    int step = block->is_reversed ? block->n_lanes - 1 : 1;
    while (true) {
        lane = (lane + step) % block->n_lanes;
        Meeting *meeting = block->waits_for[lane];
        if (!block->is_done[lane] && (!meeting || meeting->number != block->since[lane])) return lane;
    }
}

// Goes on with another lane. Jumps, unlike ucontext, cost no call of the system.
[[noreturn]] void go_on(int lane) {
    if (block->is_started[lane]) _longjmp(block->lanes[lane], 1);
    block->is_started[lane] = true;
    setcontext(&block->starts[lane]);
    __builtin_unreachable();
}

}  // namespace

void meet(int first, int n, int lane, u64 value, u64 *all) {
    Meeting &meeting = block->meetings[n == block->n_lanes && n > 32 ? MOST_LANES / 32 : first / 32];
    int number = meeting.number;
    // Two sets of values: the first lane comes again before the last has read.
    u64 *values = meeting.values[number % 2];
    values[lane - first] = value;
    if (++meeting.n_arrived == n) {
        meeting.n_arrived = 0;
        meeting.number++;
    }
    if (meeting.number == number) {
        block->waits_for[lane] = &meeting;
        block->since[lane] = number;
        if (_setjmp(block->lanes[lane]) == 0) go_on(next_lane(lane));
        block->waits_for[lane] = nullptr;
    }
    for (int i = 0; i < n; i++) all[i] = values[i];
}

namespace {

struct Call {
    const double *given;
    double least, scale;
    const i64 *masses;
    std::vector<i64> costs;
    std::vector<i64> turned;
    std::vector<char> memory;
    int n, m;
    i64 *arc_masses;
    u32 *arcs;
    i64 *duals;
    int n_arcs[MOST_LANES];
};

template <bool IS_BLOCK> void solve_lane(Call *call, int lane) {
    ShortestPaths<IS_BLOCK> solver;
    solver.team.lane = lane;
    solver.team.n_lanes = block->n_lanes;
    solver.n = call->n;
    solver.m = call->m;
    solver.at = memory_at(call->memory.data(), call->n, call->m);
    solver.costs = call->costs.data();
    solver.turned = call->turned.data();
    int n_arcs = solver.solve(call->given, call->least, call->scale, call->masses);
    call->n_arcs[lane] = n_arcs;
    for (int a = lane; a < n_arcs; a += block->n_lanes) {
        call->arc_masses[a] = solver.at.mass[a];
        call->arcs[a] = solver.at.sources.end[a] | (u32)solver.at.sinks.end[a] << 16;
    }
    for (int k = lane; k < call->m; k += block->n_lanes) call->duals[k] = solver.at.sinks.dual[k];
}

void run_lane(int low, int high, int lane) {
    Call *call = (Call *)((u64)(u32)low | (u64)(u32)high << 32);
    if (block->n_lanes > 32)
        solve_lane<true>(call, lane);
    else
        solve_lane<false>(call, lane);
    block->is_done[lane] = true;
    block->n_done++;
    if (block->n_done == block->n_lanes) setcontext(&block->caller);
    go_on(next_lane(lane));
}

}  // namespace

// The number of arcs of the plan; -1 if it was not solved, -2 if lanes disagree, -3 if there is
// no such block. Memory beyond the arrays is checked to be untouched: -4.
extern "C" int twin_batch_solve(
    const double *costs, int n, int m, double least, double scale, const i64 *masses,
    i64 *arc_masses, u32 *arcs, i64 *duals, int n_lanes, int is_reversed
) {
    if (n_lanes % 32 || n_lanes < 32 || n_lanes > MOST_LANES) return -3;
    static thread_local Block memory;
    block = &memory;
    block->n_lanes = n_lanes;
    block->is_reversed = is_reversed;
    block->n_done = 0;
    for (Meeting &meeting : block->meetings) meeting.n_arrived = meeting.number = 0;
    Call call = {costs, least, scale, masses, {}, {}, {}, n, m, arc_masses, arcs, duals, {}};
    call.costs.resize((u64)n * m);
    call.turned.resize((u64)n * m);
    u64 bytes = memory_bytes(n, m);
    call.memory.assign(bytes + 64, 77);
    for (int lane = 0; lane < n_lanes; lane++) {
        block->is_done[lane] = block->is_started[lane] = false;
        block->waits_for[lane] = nullptr;
        block->stacks[lane].resize(1 << 16);
        ucontext_t &context = block->starts[lane];
        getcontext(&context);
        context.uc_stack.ss_sp = block->stacks[lane].data();
        context.uc_stack.ss_size = block->stacks[lane].size();
        context.uc_link = nullptr;
        makecontext(&context, (void (*)())run_lane, 3, (int)(u64)&call, (int)((u64)&call >> 32), lane);
    }
    int first = is_reversed ? n_lanes - 1 : 0;
    block->is_started[first] = true;
    swapcontext(&block->caller, &block->starts[first]);
    for (int lane = 1; lane < n_lanes; lane++)
        if (call.n_arcs[lane] != call.n_arcs[0]) return -2;
    for (u64 i = bytes; i < bytes + 64; i++)
        if (call.memory[i] != 77) return -4;
    return call.n_arcs[0];
}

// What src/batch/problem.rs computes too.
extern "C" u64 twin_batch_memory_bytes(u64 n, u64 m) { return memory_bytes(n, m); }
