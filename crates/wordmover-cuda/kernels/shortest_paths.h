// One transport problem of any shape, solved exactly by successive shortest paths.
//
// Costs and masses are integers, so ties are ties, mass is conserved, and every path moves at
// least one unit: the loop ends. In plain words:
//
//     v[k] = least cost of column k;  u[i] = least C[i][k] - v[k]
//     every source sends what it can where C[i][k] = u[i] + v[k]
//     while a source has mass left:
//         find the shortest path (lengths C[i][k] - u[i] - v[k]) from it to a sink with room,
//             or from a sink with room back to a source with mass left
//         change u and v by the path lengths, so that the path's arcs have length zero
//         send as much as the path allows
//
// The arcs of the plan form a forest. They have length zero in both directions, so a tree is
// at one distance: the search takes trees, not nodes. When it gets to a sink, it visits the
// whole tree of that sink, then looks at the rows of all its sources at once, every thread at
// columns of its own. A path enters a tree once, so new arcs join different trees, and the plan
// stays a forest: n + m - 1 arcs are enough.
//
// A search from a source has rows of sources and columns of sinks, a search from a sink the
// other way round, with costs that were turned; "row" and "column" below mean the search's. What
// is left of one side tends to be in one large tree while what is left of the other is in small
// ones, where a search looks at little. So the next search starts from the side whose last search
// looked at less: at 600 x 600 these look at a tenth of what searches from sources alone do, in
// a fifteenth of the steps. The largest mass left goes first, since a small one makes arcs that
// cut later paths short.
//
// Sizes: costs are between 0 and R. A sink with room is reached by a search from a source only at
// its end, where v does not change, and searches from sinks do not lower v; so its v is not
// negative, as at the beginning. Then u[i] <= C[i][k] - v[k] <= R for all rows such a search
// visited, so u is at most R, and by the same reasons v is. A node on an arc of the plan has
// u[i] = C[i][k] - v[k] >= -R; others have all of their mass left and what they began with, or
// more. Lengths are at most 3 R, distances that matter at most R, others at most 4 R. With
// R < 2^54 nothing overflows.
#pragma once

#include "team.h"

#define NOTHING 0xffff
#define FAR_AWAY (1ll << 60)

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

// Sources or sinks; u16 number them and arcs.
struct Side {
    int n;
    i64 *dual;
    i64 *left;  // mass not sent, or room
    u16 *first; // their first arc
    u16 *next;  // of arcs: the next of the same node
    u16 *end;   // of arcs: their node
};

struct Memory {
    Side sources, sinks;
    i64 *mass;         // of arcs
    i64 *distance;     // of columns
    i64 *reached;      // distance - dual value, of rows in the order of `rows`
    i64 *best_keys;    // of warps
    int *numbers;      // what the first warp tells the others
    int *best_columns; // of warps
    u16 *parent;       // of columns: the row before them on the path
    u16 *parent_arc;   // the arc of the plan between, if there is one
    u16 *child_arc;    // of rows: the arc of the plan they were reached by
    u16 *rows, *columns;    // those visited, in order
    u8 *is_row, *is_column; // whether they are
};

// Bytes of memory for a problem; a multiple of 16. `batch/problem.rs` has the same.
DEVICE u64 memory_bytes(u64 n, u64 m) {
    u64 nodes = n + m, most = n > m ? n : m;
    u64 bytes = 8 * (3 * nodes + 2 * most + 32) + 4 * (8 + 32) + 2 * (5 * nodes + 5 * most)
              + 2 * most;
    return (bytes + 15) / 16 * 16;
}

DEVICE Memory memory_at(char *base, u64 n, u64 m) {
    u64 nodes = n + m, most = n > m ? n : m;
    Memory at;
    at.sources.n = (int)n;
    at.sinks.n = (int)m;
    i64 *longs = (i64 *)base;
    at.sources.dual = longs, longs += n;
    at.sinks.dual = longs, longs += m;
    at.sources.left = longs, longs += n;
    at.sinks.left = longs, longs += m;
    at.mass = longs, longs += nodes;
    at.distance = longs, longs += most;
    at.reached = longs, longs += most;
    at.best_keys = longs, longs += 32;
    int *ints = (int *)longs;
    at.numbers = ints, ints += 8;
    at.best_columns = ints, ints += 32;
    u16 *shorts = (u16 *)ints;
    at.sources.first = shorts, shorts += n;
    at.sinks.first = shorts, shorts += m;
    at.sources.next = shorts, shorts += nodes;
    at.sinks.next = shorts, shorts += nodes;
    at.sources.end = shorts, shorts += nodes;
    at.sinks.end = shorts, shorts += nodes;
    at.parent = shorts, shorts += most;
    at.parent_arc = shorts, shorts += most;
    at.child_arc = shorts, shorts += most;
    at.rows = shorts, shorts += most;
    at.columns = shorts, shorts += most;
    u8 *bytes = (u8 *)shorts;
    at.is_row = bytes, bytes += most;
    at.is_column = bytes;
    return at;
}

enum { N_ROWS, FIRST_ROW, TARGET, N_COLUMNS, N_ARCS, FREE_ARC };

template <bool IS_BLOCK> struct ShortestPaths {
    Team<IS_BLOCK> team;
    Memory at;
    i64 *costs, *turned; // source by source, sink by sink
    int n, m;
    // Of the search.
    Side rows, columns;
    const i64 *row_costs;

#ifdef WORDMOVER_TWIN
#define MEMBER inline
#else
#define MEMBER __device__ __forceinline__
#endif

    // Solves; the number of arcs (some may have no mass), or -1 if it takes too many paths.
    MEMBER int solve(const double *given, double least, double scale, const i64 *masses) {
        // Four rows at a time: their costs come from afar.
        for (int start = 4 * team.warp(); start < n; start += team.n_lanes / 8) {
            for (int k = team.in_warp(); k < m; k += 32) {
                i64 four[4];
#pragma unroll
                for (int j = 0; j < 4; j++) {
                    int i = start + j < n ? start + j : n - 1;
                    four[j] = to_integer((given[(u64)i * m + k] - least) * scale);
                }
#pragma unroll
                for (int j = 0; j < 4; j++) {
                    int i = start + j;
                    if (i < n) {
                        costs[(u64)i * m + k] = four[j];
                        turned[(u64)k * n + i] = four[j];
                    }
                }
            }
        }
        for (int i = team.lane; i < n; i += team.n_lanes) {
            at.sources.left[i] = masses[i];
            at.sources.first[i] = NOTHING;
        }
        for (int k = team.lane; k < m; k += team.n_lanes) {
            at.sinks.left[k] = masses[n + k];
            at.sinks.first[k] = NOTHING;
        }
        for (int j = team.lane; j < n || j < m; j += team.n_lanes)
            at.is_row[j] = at.is_column[j] = 0;
        if (team.lane == 0) {
            at.numbers[N_ARCS] = 0;
            at.numbers[FREE_ARC] = NOTHING;
        }
        team.sync();
        start_duals();
        team.sync();
        rows = at.sources;
        columns = at.sinks;
        if (team.warp() == 0) start_plan();
        team.sync();
        // Far more than ever seen: a problem that takes so many had better go elsewhere.
        int n_left = 64 * (n + m) + 1024;
        // What the last search of each side looked at.
        i64 from_source = 0, from_sink = 0;
        while (true) {
            bool is_from_sink = from_sink < from_source;
            rows = is_from_sink ? at.sinks : at.sources;
            columns = is_from_sink ? at.sources : at.sinks;
            row_costs = is_from_sink ? turned : costs;
            int root = most_left();
            if (root < 0) return at.numbers[N_ARCS];
            if (n_left-- == 0) return -1;
            i64 n_looked = one_path(root);
            // The other side gets another try now and then.
            from_source = is_from_sink ? from_source * 4 / 5 : n_looked;
            from_sink = is_from_sink ? n_looked : from_sink * 4 / 5;
        }
    }

    MEMBER void start_duals() {
        for (int k = team.lane; k < m; k += team.n_lanes) {
            i64 least = FAR_AWAY;
#pragma unroll 4
            for (int i = 0; i < n; i++) {
                i64 cost = costs[(u64)i * m + k];
                least = cost < least ? cost : least;
            }
            at.sinks.dual[k] = least;
        }
        team.sync();
        for (int i = team.warp(); i < n; i += team.n_lanes / 32) {
            i64 least = FAR_AWAY;
            int nearest = 0, n_nearest = 0;
#pragma unroll 4
            for (int k = team.in_warp(); k < m; k += 32) {
                i64 length = costs[(u64)i * m + k] - at.sinks.dual[k];
                n_nearest = length < least ? 1 : n_nearest + (length == least);
                nearest = length < least ? k : nearest;
                least = length < least ? length : least;
            }
            i64 u = team.least(least);
            u32 which = team.ballot(least == u);
            nearest = team.from(nearest, first_bit(which));
            n_nearest = team.from(n_nearest, first_bit(which));
            if (team.in_warp() == 0) {
                at.sources.dual[i] = u;
                at.child_arc[i] = n_nearest == 1 && bit_count(which) == 1 ? (u16)nearest : NOTHING;
            }
        }
    }

    // Along arcs of length zero, source after source: to its nearest sink, or to all of them if
    // there are several. Each arc empties a source or fills a sink, so every tree has at most
    // one node with mass or room left, and no cycle closes. The first warp.
    MEMBER void start_plan() {
        for (int i = 0; i < n; i++) {
            i64 excess = rows.left[i];
            int nearest = at.child_arc[i];
            if (nearest != NOTHING) {
                excess -= send_to(i, nearest, excess);
            } else {
                i64 u = rows.dual[i];
                for (int start = 0; start < m && excess > 0; start += 32) {
                    int k = start + team.in_warp();
                    bool is_open = k < m && columns.left[k] > 0
                                && costs[(u64)i * m + k] == u + columns.dual[k];
                    u32 open = team.ballot(is_open);
                    while (open && excess > 0) {
                        excess -= send_to(i, start + first_bit(open), excess);
                        open &= open - 1;
                    }
                }
            }
            // All have read what is written now.
            team.sync_warp();
            if (team.in_warp() == 0) rows.left[i] = excess;
            team.sync_warp();
        }
    }

    // Fills a sink from a source with so much left; what was sent.
    MEMBER i64 send_to(int source, int sink, i64 excess) {
        i64 room = columns.left[sink];
        i64 sent = room < excess ? room : excess;
        team.sync_warp();
        if (team.in_warp() == 0 && sent > 0) {
            columns.left[sink] = room - sent;
            add_arc(source, sink, sent);
        }
        team.sync_warp();
        return sent;
    }

    // The row with the most left, -1 if none has any; every warp finds it.
    MEMBER int most_left() {
        i64 most = 0;
        int which = -1;
#pragma unroll 4
        for (int r = team.in_warp(); r < rows.n; r += 32) {
            i64 left = rows.left[r];
            if (left > most) {
                most = left;
                which = r;
            }
        }
        i64 least = team.least(-most);
        return team.from(which, first_bit(team.ballot(-most == least)));
    }

    // One search and one path of the plan, from a row with something left; how many costs the
    // search looked at.
    MEMBER i64 one_path(int root) {
        for (int c = team.lane; c < columns.n; c += team.n_lanes) at.distance[c] = FAR_AWAY;
        i64 distance = 0, n_looked = 0;
        int n_rows = 0, n_columns = 0;
        team.sync();
        if (team.warp() == 0) {
            if (team.in_warp() == 0) {
                at.rows[0] = (u16)root;
                at.is_row[root] = 1;
                at.child_arc[root] = NOTHING;
                at.reached[0] = -rows.dual[root];
            }
            team.sync_warp();
            visit_tree(0, 1, 0, 0, NOTHING, 0);
        }
        team.sync();
        while (at.numbers[TARGET] == NOTHING) {
            int first_row = at.numbers[FIRST_ROW];
            n_rows = at.numbers[N_ROWS];
            n_columns = at.numbers[N_COLUMNS];
            n_looked += (i64)(n_rows - first_row) * (columns.n - n_columns);
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
                if (team.in_warp() == 0) {
                    at.columns[n_columns] = (u16)column;
                    at.is_column[column] = 1;
                    at.parent_arc[column] = NOTHING;
                }
                team.sync_warp();
                int target = columns.left[column] > 0 ? column : NOTHING;
                visit_tree(n_rows, n_rows, n_columns, n_columns + 1, target, distance);
            }
            team.sync();
        }
        n_rows = at.numbers[N_ROWS];
        n_columns = at.numbers[N_COLUMNS];
        int target = at.numbers[TARGET];
        for (int r = team.lane; r < n_rows; r += team.n_lanes) {
            int row = at.rows[r];
            rows.dual[row] = distance - at.reached[r];
            at.is_row[row] = 0;
        }
        for (int c = team.lane; c < n_columns; c += team.n_lanes) {
            int column = at.columns[c];
            columns.dual[column] -= distance - at.distance[column];
            at.is_column[column] = 0;
        }
        if (team.lane == 0) send(root, target);
        team.sync();
        return n_looked;
    }

    // Visits what is connected with the rows from `next_row` and the columns from
    // `next_column` on, all at one distance, until a column with something left is found. The
    // first warp.
    MEMBER void visit_tree(
        int next_row, int n_rows, int next_column, int n_columns, int target, i64 distance
    ) {
        int first_row = next_row;
        while (target == NOTHING && (next_row < n_rows || next_column < n_columns)) {
            int end = next_column + 32 < n_columns ? next_column + 32 : n_columns;
            int place = next_column + team.in_warp();
            int arc = place < end ? columns.first[at.columns[place]] : NOTHING;
            next_column = end;
            while (team.ballot(arc != NOTHING)) {
                int row = arc != NOTHING ? rows.end[arc] : 0;
                bool is_new = arc != NOTHING && !at.is_row[row];
                u32 news = team.ballot(is_new);
                if (is_new) {
                    int r = n_rows + bit_count(news & ((1u << team.in_warp()) - 1));
                    at.rows[r] = (u16)row;
                    at.is_row[row] = 1;
                    at.child_arc[row] = (u16)arc;
                    at.reached[r] = distance - rows.dual[row];
                }
                n_rows += bit_count(news);
                if (arc != NOTHING) arc = columns.next[arc];
            }
            team.sync_warp();
            end = next_row + 32 < n_rows ? next_row + 32 : n_rows;
            place = next_row + team.in_warp();
            arc = place < end ? rows.first[at.rows[place]] : NOTHING;
            next_row = end;
            while (team.ballot(arc != NOTHING)) {
                int column = arc != NOTHING ? columns.end[arc] : 0;
                bool is_new = arc != NOTHING && !at.is_column[column];
                u32 news = team.ballot(is_new);
                if (is_new) {
                    int c = n_columns + bit_count(news & ((1u << team.in_warp()) - 1));
                    at.columns[c] = (u16)column;
                    at.is_column[column] = 1;
                    at.parent[column] = rows.end[arc];
                    at.parent_arc[column] = (u16)arc;
                    at.distance[column] = distance;
                }
                n_columns += bit_count(news);
                u32 open = team.ballot(is_new && columns.left[column] > 0);
                if (open) {
                    target = team.from(column, first_bit(open));
                    break;
                }
                if (arc != NOTHING) arc = rows.next[arc];
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
    // which it gives the nearest; among equals, one with something left.
    MEMBER void look_at_rows(int first, int end, i64 &least, int &nearest) {
        for (int c = team.lane; c < columns.n; c += team.n_lanes) {
            if (at.is_column[c]) continue;
            i64 dual = columns.dual[c];
            i64 before = at.distance[c] + dual, length = before;
            int parent = 0;
            // Four costs at a time: they come from afar.
            for (int start = first; start < end; start += 4) {
                i64 lengths[4];
#pragma unroll
                for (int j = 0; j < 4; j++) {
                    int r = start + j < end ? start + j : end - 1;
                    lengths[j] = at.reached[r] + row_costs[(u64)at.rows[r] * columns.n + c];
                }
#pragma unroll
                for (int j = 0; j < 4; j++) {
                    if (lengths[j] < length) {
                        length = lengths[j];
                        parent = start + j;
                    }
                }
            }
            i64 distance = length - dual;
            if (length < before) {
                at.distance[c] = distance;
                at.parent[c] = at.rows[parent];
            }
            i64 key = 2 * distance + (columns.left[c] == 0);
            if (key < least) {
                least = key;
                nearest = c;
            }
        }
    }

    // Sends what the path found allows. One thread.
    MEMBER void send(int root, int target) {
        i64 sent = rows.left[root] < columns.left[target] ? rows.left[root] : columns.left[target];
        int column = target;
        for (int row = at.parent[column]; row != root; row = at.parent[column]) {
            int arc = at.child_arc[row];
            sent = at.mass[arc] < sent ? at.mass[arc] : sent;
            column = columns.end[arc];
        }
        rows.left[root] -= sent;
        columns.left[target] -= sent;
        column = target;
        while (true) {
            int row = at.parent[column];
            int arc = at.parent_arc[column];
            if (arc != NOTHING)
                at.mass[arc] += sent;
            else
                add_arc(row, column, sent);
            if (row == root) break;
            arc = at.child_arc[row];
            column = columns.end[arc];
            at.mass[arc] -= sent;
            if (at.mass[arc] == 0) remove_arc(arc, row, column);
        }
    }

    MEMBER void add_arc(int row, int column, i64 mass) {
        int arc = at.numbers[FREE_ARC];
        if (arc != NOTHING)
            at.numbers[FREE_ARC] = at.sources.next[arc];
        else
            arc = at.numbers[N_ARCS]++;
        rows.end[arc] = (u16)row;
        columns.end[arc] = (u16)column;
        at.mass[arc] = mass;
        rows.next[arc] = rows.first[row];
        rows.first[row] = (u16)arc;
        columns.next[arc] = columns.first[column];
        columns.first[column] = (u16)arc;
    }

    MEMBER void remove_arc(int arc, int row, int column) {
        u16 *link = &rows.first[row];
        while (*link != arc) link = &rows.next[*link];
        *link = rows.next[arc];
        link = &columns.first[column];
        while (*link != arc) link = &columns.next[*link];
        *link = columns.next[arc];
        at.sources.next[arc] = (u16)at.numbers[FREE_ARC];
        at.numbers[FREE_ARC] = arc;
    }
#undef MEMBER
};
