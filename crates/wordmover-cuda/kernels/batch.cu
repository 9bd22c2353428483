// The kernels of Device::transport_costs: a block solves one problem. make_ptx.py compiles them
// to batch.ptx, which is loaded by itself. The solver is compiled for the host too
// (twin_batch.cpp).

#include "shortest_paths.h"

// What a launch is about; src/kernels.rs has the same.
struct Batch {
    const Given *problems;
    const u32 *order;   // the problem of each block
    double *costs;      // become integers
    i64 *turned;        // the same, sink by sink
    const i64 *masses;
    char *memory;
    i64 *arc_masses;    // found
    u32 *arcs;          // source, and sink in the upper half
    i64 *duals;         // of sinks
    int *n_arcs;        // of problems; -1: not solved
};

extern __shared__ char shared[];

template <bool IS_BLOCK, bool IS_SHARED> DEVICE void solve_one(const Batch &batch) {
    u32 number = batch.order[blockIdx.x];
    const Given &given = batch.problems[number];
    ShortestPaths<IS_BLOCK> solver;
    solver.n = (int)given.n_sources;
    solver.m = (int)given.n_sinks;
    solver.at = memory_at(IS_SHARED ? shared : batch.memory + given.memory, solver.n, solver.m);
    double *costs = batch.costs + given.costs;
    solver.costs = (i64 *)costs;
    solver.turned = batch.turned + given.costs;
    int n_arcs = solver.solve(costs, given.least, given.scale, batch.masses + given.nodes);
    const Team<IS_BLOCK> &team = solver.team;
    for (int a = team.lane; a < n_arcs; a += team.n_lanes) {
        batch.arc_masses[given.nodes + a] = solver.at.mass[a];
        batch.arcs[given.nodes + a] = solver.at.sources.end[a] | (u32)solver.at.sinks.end[a] << 16;
    }
    for (int k = team.lane; k < solver.m; k += team.n_lanes)
        batch.duals[given.sinks + k] = solver.at.sinks.dual[k];
    if (team.lane == 0) batch.n_arcs[number] = n_arcs;
}

extern "C" __global__ void __launch_bounds__(32) transport_by_warp(Batch batch) {
    solve_one<false, true>(batch);
}

extern "C" __global__ void __launch_bounds__(1024) transport_by_block(Batch batch) {
    solve_one<true, true>(batch);
}

// The same where shared memory is too small.
extern "C" __global__ void __launch_bounds__(1024) transport_in_memory(Batch batch) {
    solve_one<true, false>(batch);
}
