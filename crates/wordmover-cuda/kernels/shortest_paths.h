// One transport problem of any shape, solved exactly by successive shortest paths.
//
// Costs and masses are integers, so ties are ties, mass is conserved, and every path moves at
// least one unit: the loop ends. In plain words:
//
//     v[k] = least cost of column k;  u[i] = least C[i][k] - v[k]
//     every source sends what it can where C[i][k] = u[i] + v[k]
//     while a source has mass left:
//         find the shortest path (lengths C[i][k] - u[i] - v[k]) from it to a sink with room
//         change u and v by the path lengths, so that the path's arcs have length zero
//         send as much as the path allows
//
// The arcs of the plan form a forest. They have length zero in both directions, so a tree is
// at one distance: the search takes trees, not nodes. When it gets to a sink, it visits the
// whole tree of that sink, then looks at the rows of all its sources at once, every thread at
// columns of its own. A path enters a tree once, so new arcs join different trees, and the plan
// stays a forest: n + m - 1 arcs are enough.
//
// Sizes: costs are between 0 and R. A sink that has room still has its first v, which is not
// negative, so u[i] <= C[i][k] - v[k] <= R; u never falls and begins at 0 or above. A full sink
// is on an arc of the plan, so v[k] = C[i][k] - u[i] >= -R. Lengths are at most R + R, distances
// that matter at most R, and others at most 4 R. With R < 2^54 nothing overflows.
#pragma once

#include "team.h"

#define NOTHING 0xffff
#define FAR_AWAY (1ll << 60)

// A block looks at many rows by costs of 28 bits, which are half to read, first.
#define SHORT_BITS 25
#ifdef WORDMOVER_TWIN
#define MANY_ROWS 4
#else
#define MANY_ROWS 16
#endif

// Where a problem lies, and its integers: (cost - least) * scale. The same as in src/batch/.
struct Given {
    u64 costs;    // first of n x m costs
    u64 nodes;    // first of n + m masses: sources, then sinks; of n + m arcs of the plan
    u64 sinks;    // first of m dual values
    u64 memory;   // first byte of memory, if it is not in shared memory
    double least;
    double scale;
    u32 n_sources;
    u32 n_sinks;
};

// Pointers to everything; u16 number sources, sinks and arcs.
struct Memory {
    i64 *v, *distance, *room;           // of sinks
    i64 *u, *excess;                    // of sources
    i64 *reached;                       // distance - u, of sources in the order of `rows`
    i64 *mass;                          // of arcs
    i64 *best_keys;                     // of warps
    u16 *arc_source, *arc_sink;         // of arcs
    u16 *next_of_source, *next_of_sink; // the next arc of the same source, of the same sink
    u16 *first_of_source, *first_of_sink;
    u16 *parent;                        // of sinks: the source before them on the path
    u16 *parent_arc;                    // the arc of the plan between, if there is one
    u16 *child_arc;                     // of sources: the arc of the plan they were reached by
    u16 *rows, *columns;                // sources and sinks visited, in order
    u8 *is_row, *is_column;             // whether they are
    int *numbers;                       // what the first warp tells the others
    int *best_columns;                  // of warps
};

// Bytes of memory for a problem; a multiple of 16. `batch/problem.rs` has the same.
DEVICE u64 memory_bytes(u64 n, u64 m) {
    u64 bytes = 8 * (3 * m + 3 * n + (n + m) + 32) + 4 * (8 + 32)
              + 2 * (4 * (n + m) + 3 * n + 4 * m) + (n + m);
    return (bytes + 15) / 16 * 16;
}

DEVICE Memory memory_at(char *base, u64 n, u64 m) {
    Memory at;
    i64 *longs = (i64 *)base;
    at.v = longs, longs += m;
    at.distance = longs, longs += m;
    at.room = longs, longs += m;
    at.u = longs, longs += n;
    at.excess = longs, longs += n;
    at.reached = longs, longs += n;
    at.mass = longs, longs += n + m;
    at.best_keys = longs, longs += 32;
    int *ints = (int *)longs;
    at.numbers = ints, ints += 8;
    at.best_columns = ints, ints += 32;
    u16 *shorts = (u16 *)ints;
    at.arc_source = shorts, shorts += n + m;
    at.arc_sink = shorts, shorts += n + m;
    at.next_of_source = shorts, shorts += n + m;
    at.next_of_sink = shorts, shorts += n + m;
    at.first_of_source = shorts, shorts += n;
    at.first_of_sink = shorts, shorts += m;
    at.parent = shorts, shorts += m;
    at.parent_arc = shorts, shorts += m;
    at.child_arc = shorts, shorts += n;
    at.rows = shorts, shorts += n;
    at.columns = shorts, shorts += m;
    u8 *bytes = (u8 *)shorts;
    at.is_row = bytes, bytes += n;
    at.is_column = bytes;
    return at;
}

enum { N_ROWS, FIRST_ROW, TARGET, N_COLUMNS, N_ARCS, FREE_ARC };

template <bool IS_BLOCK> struct ShortestPaths {
    Team<IS_BLOCK> team;
    Memory at;
    i64 *costs;
    u32 *short_costs; // costs without their last SHORT_BITS
    int n, m;

#ifdef WORDMOVER_TWIN
#define MEMBER inline
#else
#define MEMBER __device__ __forceinline__
#endif

    // Solves; the number of arcs (some may have no mass), or -1 if it takes too many paths.
    MEMBER int solve(const double *given, double least, double scale, const i64 *masses) {
        for (u64 e = team.lane; e < (u64)n * m; e += team.n_lanes) {
            i64 cost = to_integer((given[e] - least) * scale);
            costs[e] = cost;
            if (IS_BLOCK) short_costs[e] = (u32)(cost >> SHORT_BITS);
        }
        for (int i = team.lane; i < n; i += team.n_lanes) {
            at.excess[i] = masses[i];
            at.first_of_source[i] = NOTHING;
            at.is_row[i] = 0;
        }
        for (int k = team.lane; k < m; k += team.n_lanes) {
            at.room[k] = masses[n + k];
            at.first_of_sink[k] = NOTHING;
            at.is_column[k] = 0;
        }
        if (team.lane == 0) {
            at.numbers[N_ARCS] = 0;
            at.numbers[FREE_ARC] = NOTHING;
        }
        team.sync();
        start_duals();
        team.sync();
        if (team.warp() == 0) start_plan();
        team.sync();
        // Far more than ever seen: a problem that takes so many had better go elsewhere.
        int n_left = 64 * (n + m) + 1024;
        for (int root = largest_excess(); root >= 0; root = largest_excess()) {
            if (n_left-- == 0) return -1;
            one_path(root);
        }
        return at.numbers[N_ARCS];
    }

    // The source with the most mass left, -1 if none has any; every warp finds it. Large masses
    // go first, so that later paths are seldom cut short by small arcs: a third fewer paths on
    // 250 x 250 than source after source.
    MEMBER int largest_excess() {
        i64 most = 0;
        int which = -1;
        for (int i = team.in_warp(); i < n; i += 32) {
            i64 excess = at.excess[i];
            if (excess > most) {
                most = excess;
                which = i;
            }
        }
        i64 least = team.least(-most);
        return team.from(which, first_bit(team.ballot(-most == least)));
    }

    MEMBER void start_duals() {
        for (int k = team.lane; k < m; k += team.n_lanes) {
            i64 least = FAR_AWAY;
            for (int i = 0; i < n; i++) {
                i64 cost = costs[(u64)i * m + k];
                least = cost < least ? cost : least;
            }
            at.v[k] = least;
        }
        team.sync();
        for (int i = team.warp(); i < n; i += team.n_lanes / 32) {
            i64 least = FAR_AWAY;
            for (int k = team.in_warp(); k < m; k += 32) {
                i64 length = costs[(u64)i * m + k] - at.v[k];
                least = length < least ? length : least;
            }
            least = team.least(least);
            if (team.in_warp() == 0) at.u[i] = least;
        }
    }

    // Along arcs of length zero, source after source. Each arc empties a source or fills a
    // sink, so every tree has at most one node with mass or room left, and no cycle closes.
    MEMBER void start_plan() {
        for (int i = 0; i < n; i++) {
            i64 excess = at.excess[i], u = at.u[i];
            for (int start = 0; start < m && excess > 0; start += 32) {
                int k = start + team.in_warp();
                bool is_open = k < m && at.room[k] > 0 && costs[(u64)i * m + k] == u + at.v[k];
                u32 open = team.ballot(is_open);
                while (open && excess > 0) {
                    int sink = start + first_bit(open);
                    open &= open - 1;
                    i64 room = at.room[sink];
                    i64 sent = room < excess ? room : excess;
                    excess -= sent;
                    team.sync_warp();
                    if (team.in_warp() == 0) {
                        at.room[sink] = room - sent;
                        add_arc(i, sink, sent);
                    }
                    team.sync_warp();
                }
            }
            if (team.in_warp() == 0) at.excess[i] = excess;
            team.sync_warp();
        }
    }

    // One search and one path of the plan, from a source with excess.
    MEMBER void one_path(int root) {
        for (int k = team.lane; k < m; k += team.n_lanes) at.distance[k] = FAR_AWAY;
        i64 distance = 0;
        int n_rows = 0, n_columns = 0;
        team.sync();
        if (team.warp() == 0) {
            if (team.in_warp() == 0) {
                at.rows[0] = (u16)root;
                at.is_row[root] = 1;
                at.child_arc[root] = NOTHING;
                at.reached[0] = -at.u[root];
            }
            team.sync_warp();
            visit_tree(0, 1, 0, 0, NOTHING, 0);
        }
        team.sync();
        while (at.numbers[TARGET] == NOTHING) {
            int first_row = at.numbers[FIRST_ROW];
            n_rows = at.numbers[N_ROWS];
            i64 key = 2 * FAR_AWAY;
            int column = 0;
            look_at_rows(first_row, n_rows, key, column);
            // The nearest column of the warp, then of all.
            i64 least = team.least(key);
            int which = first_bit(team.ballot(key == least));
            column = team.from(column, which);
            if (IS_BLOCK) {
                if (team.in_warp() == 0) {
                    at.best_keys[team.warp()] = least;
                    at.best_columns[team.warp()] = column;
                }
                team.sync();
                int n_warps = team.n_lanes / 32;
                key = team.in_warp() < n_warps ? at.best_keys[team.in_warp()] : 2 * FAR_AWAY;
                column = team.in_warp() < n_warps ? at.best_columns[team.in_warp()] : 0;
                least = team.least(key);
                which = first_bit(team.ballot(key == least));
                column = team.from(column, which);
            }
            distance = least >> 1;
            team.sync_warp();
            if (team.warp() == 0) {
                n_columns = at.numbers[N_COLUMNS];
                if (team.in_warp() == 0) {
                    at.columns[n_columns] = (u16)column;
                    at.is_column[column] = 1;
                    at.parent_arc[column] = NOTHING;
                }
                team.sync_warp();
                int target = at.room[column] > 0 ? column : NOTHING;
                visit_tree(n_rows, n_rows, n_columns, n_columns + 1, target, distance);
            }
            team.sync();
        }
        n_rows = at.numbers[N_ROWS];
        n_columns = at.numbers[N_COLUMNS];
        int target = at.numbers[TARGET];
        // Nobody may begin the next search, which writes numbers, before all have read them.
        for (int r = team.lane; r < n_rows; r += team.n_lanes) {
            int i = at.rows[r];
            at.u[i] = distance - at.reached[r];
            at.is_row[i] = 0;
        }
        for (int c = team.lane; c < n_columns; c += team.n_lanes) {
            int k = at.columns[c];
            at.v[k] -= distance - at.distance[k];
            at.is_column[k] = 0;
        }
        if (team.lane == 0) send(root, target);
        team.sync();
    }

    // Visits what is connected with the rows from `next_row` and the columns from
    // `next_column` on, all at one distance, until a sink with room is found. The first warp.
    MEMBER void visit_tree(
        int next_row, int n_rows, int next_column, int n_columns, int target, i64 distance
    ) {
        int first_row = next_row;
        while (target == NOTHING && (next_row < n_rows || next_column < n_columns)) {
            int end = next_column + 32 < n_columns ? next_column + 32 : n_columns;
            int place = next_column + team.in_warp();
            int arc = place < end ? at.first_of_sink[at.columns[place]] : NOTHING;
            next_column = end;
            while (team.ballot(arc != NOTHING)) {
                int i = arc != NOTHING ? at.arc_source[arc] : 0;
                bool is_new = arc != NOTHING && !at.is_row[i];
                u32 news = team.ballot(is_new);
                if (is_new) {
                    int row = n_rows + bit_count(news & ((1u << team.in_warp()) - 1));
                    at.rows[row] = (u16)i;
                    at.is_row[i] = 1;
                    at.child_arc[i] = (u16)arc;
                    at.reached[row] = distance - at.u[i];
                }
                n_rows += bit_count(news);
                if (arc != NOTHING) arc = at.next_of_sink[arc];
            }
            team.sync_warp();
            end = next_row + 32 < n_rows ? next_row + 32 : n_rows;
            place = next_row + team.in_warp();
            arc = place < end ? at.first_of_source[at.rows[place]] : NOTHING;
            next_row = end;
            while (team.ballot(arc != NOTHING)) {
                int k = arc != NOTHING ? at.arc_sink[arc] : 0;
                bool is_new = arc != NOTHING && !at.is_column[k];
                u32 news = team.ballot(is_new);
                if (is_new) {
                    int column = n_columns + bit_count(news & ((1u << team.in_warp()) - 1));
                    at.columns[column] = (u16)k;
                    at.is_column[k] = 1;
                    at.parent[k] = at.arc_source[arc];
                    at.parent_arc[k] = (u16)arc;
                    at.distance[k] = distance;
                }
                n_columns += bit_count(news);
                u32 open = team.ballot(is_new && at.room[k] > 0);
                if (open) {
                    target = team.from(k, first_bit(open));
                    break;
                }
                if (arc != NOTHING) arc = at.next_of_source[arc];
            }
            team.sync_warp();
        }
        if (team.in_warp() == 0) {
            at.numbers[FIRST_ROW] = first_row;
            at.numbers[N_ROWS] = n_rows;
            at.numbers[N_COLUMNS] = n_columns;
            at.numbers[TARGET] = target;
        }
        team.sync_warp();
    }

    // Distances over the rows from `first` to `end`, each thread for columns of its own, of
    // which it gives the nearest; among equals, one with room.
    MEMBER void look_at_rows(int first, int end, i64 &least, int &nearest) {
        bool is_many = IS_BLOCK && end - first >= MANY_ROWS;
        for (int k = team.lane; k < m; k += team.n_lanes) {
            if (at.is_column[k]) continue;
            i64 v = at.v[k];
            i64 before = at.distance[k] + v, length = before;
            int parent = 0;
            if (is_many)
                nearest_of_many(first, end, k, length, parent);
            else
                nearest_row(first, end, k, length, parent);
            i64 distance = length - v;
            if (length < before) {
                at.distance[k] = distance;
                at.parent[k] = (u16)parent;
            }
            i64 key = 2 * distance + (at.room[k] == 0);
            if (key < least) {
                least = key;
                nearest = k;
            }
        }
    }

    // The first of the rows that are nearest to a column, if it is nearer than `length`. Eight
    // costs are read at a time: they come from afar.
    MEMBER void nearest_row(int first, int end, int k, i64 &length, int &parent) {
        for (int start = first; start < end; start += 8) {
            i64 lengths[8];
#pragma unroll
            for (int j = 0; j < 8; j++) {
                int r = start + j < end ? start + j : end - 1;
                lengths[j] = at.reached[r] + costs[(u64)at.rows[r] * m + k];
            }
#pragma unroll
            for (int j = 0; j < 8; j++) {
                if (lengths[j] < length) {
                    length = lengths[j];
                    parent = at.rows[start + j < end ? start + j : end - 1];
                }
            }
        }
    }

    // The same by short costs. Without their last bits, a sum of two is at most one too small:
    // the least is that of the nearest row unless another is within one of it, which calls for
    // all bits of all rows.
    MEMBER void nearest_of_many(int first, int end, int k, i64 &length, int &parent) {
        int least = 0x7fffffff, second = 0x7fffffff, nearest = 0;
        for (int start = first; start < end; start += 8) {
            int lengths[8];
#pragma unroll
            for (int j = 0; j < 8; j++) {
                int r = start + j < end ? start + j : end - 1;
                int cost = (int)short_costs[(u64)at.rows[r] * m + k];
                lengths[j] = start + j < end ? (int)(at.reached[r] >> SHORT_BITS) + cost : 0x7fffffff;
            }
#pragma unroll
            for (int j = 0; j < 8; j++) {
                bool is_less = lengths[j] < least;
                int other = is_less ? least : lengths[j];
                second = other < second ? other : second;
                least = is_less ? lengths[j] : least;
                nearest = is_less ? start + j : nearest;
            }
        }
        if ((i64)least * (1ll << SHORT_BITS) >= length) return;
        if (second > least + 1)
            nearest_row(nearest, nearest + 1, k, length, parent);
        else
            nearest_row(first, end, k, length, parent);
    }

    // Sends what the path found allows. One thread.
    MEMBER void send(int root, int target) {
        i64 sent = at.excess[root] < at.room[target] ? at.excess[root] : at.room[target];
        int k = target;
        for (int i = at.parent[k]; i != root; i = at.parent[k]) {
            int arc = at.child_arc[i];
            sent = at.mass[arc] < sent ? at.mass[arc] : sent;
            k = at.arc_sink[arc];
        }
        at.excess[root] -= sent;
        at.room[target] -= sent;
        k = target;
        while (true) {
            int i = at.parent[k];
            int arc = at.parent_arc[k];
            if (arc != NOTHING)
                at.mass[arc] += sent;
            else
                add_arc(i, k, sent);
            if (i == root) break;
            arc = at.child_arc[i];
            k = at.arc_sink[arc];
            at.mass[arc] -= sent;
            if (at.mass[arc] == 0) remove_arc(arc, i, k);
        }
    }

    MEMBER void add_arc(int i, int k, i64 mass) {
        int arc = at.numbers[FREE_ARC];
        if (arc != NOTHING)
            at.numbers[FREE_ARC] = at.next_of_source[arc];
        else
            arc = at.numbers[N_ARCS]++;
        at.arc_source[arc] = (u16)i;
        at.arc_sink[arc] = (u16)k;
        at.mass[arc] = mass;
        at.next_of_source[arc] = at.first_of_source[i];
        at.first_of_source[i] = (u16)arc;
        at.next_of_sink[arc] = at.first_of_sink[k];
        at.first_of_sink[k] = (u16)arc;
    }

    MEMBER void remove_arc(int arc, int i, int k) {
        u16 *link = &at.first_of_source[i];
        while (*link != arc) link = &at.next_of_source[*link];
        *link = at.next_of_source[arc];
        link = &at.first_of_sink[k];
        while (*link != arc) link = &at.next_of_sink[*link];
        *link = at.next_of_sink[arc];
        at.next_of_source[arc] = (u16)at.numbers[FREE_ARC];
        at.numbers[FREE_ARC] = arc;
    }
#undef MEMBER
};
