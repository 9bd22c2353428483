//! A plan that is nearly optimal: the sources bid for the sinks.
//!
//! ```text
//! all sources wait, in their order
//! take the first; it goes to the sink of least reduced cost, where there is room
//! if there is none, it outbids: the sink's dual value falls by what the source would lose at
//!     its second-best sink, and a little more; those who came last lose their place to it, as
//!     much as it has mass, and wait again
//! ```
//!
//! This is Bertsekas' auction (1988) with one price for all of a sink, so what is left at a
//! sink may have become too dear for those who hold it. And reduced costs are coarse. Both do not
//! matter for a plan to start from. When bids have become many, whoever waits goes where there is
//! room.

use super::coarse::{two_best, width};
use super::{NONE, NetworkSimplex};
use crate::transport::lanes::Simd;

/// By how much a bid is above what it must be, in coarse units: 1/43 of the spread of the costs.
/// Measured on documents: from 256 to 512 what more pivots cost is what fewer bids save.
const LITTLE: i16 = 384;

/// With two to six bids for every source auctions end by themselves.
const BIDS_PER_SOURCE: usize = 16;

/// Mass of a source at a sink, in the list of what the sink holds.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Lot {
    pub mass: f64,
    pub source: u32,
    pub next: u32,
}

impl NetworkSimplex {
    /// Fills the lists of lots. False if there is no room for all mass, which balanced masses have.
    #[inline(always)]
    #[must_use]
    pub(super) fn hold_auction<S: Simd>(&mut self, simd: S) -> bool {
        let (n, m) = (self.n_sources, self.n_sinks);
        let w = width(m);
        let coarse = &self.coarse[..n * w];
        let duals = &mut self.coarse_duals[..w];
        let prices = &mut self.prices[..w];
        let room = &mut self.room[..m];
        let first = &mut self.first_lot[..m];
        let free = &mut self.free[..n];
        let queue = &mut self.queue[..n];
        let lots = &mut self.lots;
        lots.clear();
        first.fill(NONE);
        free.copy_from_slice(&self.masses[..n]);
        for (source, place) in queue.iter_mut().enumerate() {
            *place = source as u32;
        }
        let (mut head, mut n_waiting) = (0, n);
        let mut spare = NONE;
        let mut bids = BIDS_PER_SOURCE * n;
        let mut is_over = false;
        while n_waiting > 0 {
            let source = queue[head];
            head = if head + 1 < n { head + 1 } else { 0 };
            n_waiting -= 1;
            let row = &coarse[source as usize * w..][..w];
            let mut mass = std::mem::take(&mut free[source as usize]);
            while mass > 0.0 {
                let best = two_best(simd, row, duals);

                let mut sink = best.sink.min(m - 1);
                if is_over && room[sink] == 0.0 {
                    // What has room is as dear as what has none.
                    match room.iter().position(|&room| room > 0.0) {
                        Some(with_room) => sink = with_room,
                        None => return false,
                    }
                }
                let mut taken = lesser(mass, room[sink]);
                room[sink] -= taken;
                if taken < mass && bids > 0 {
                    bids -= 1;
                    let fall = best
                        .second
                        .saturating_sub(best.least)
                        .saturating_add(LITTLE);
                    let dual = &mut duals.as_flattened_mut()[sink];
                    *dual = dual.saturating_sub(fall);
                    while taken < mass && first[sink] != NONE {
                        let at = first[sink];
                        let lot = &mut lots[at as usize];
                        let loser = lot.source as usize;
                        let lost = lesser(lot.mass, mass - taken);
                        lot.mass -= lost;
                        taken += lost;
                        if lot.mass == 0.0 {
                            first[sink] = std::mem::replace(&mut lot.next, spare);
                            spare = at;
                        }
                        if free[loser] == 0.0 {
                            let end = head + n_waiting;
                            queue[if end < n { end } else { end - n }] = loser as u32;
                            n_waiting += 1;
                        }
                        free[loser] += lost;
                    }
                } else if bids == 0 {
                    if !is_over {
                        is_over = true;
                        prices.copy_from_slice(duals);
                        for (dual, &room) in duals.as_flattened_mut().iter_mut().zip(&*room) {
                            *dual = if room > 0.0 { *dual } else { i16::MIN };
                        }
                    }
                    if room[sink] == 0.0 {
                        duals.as_flattened_mut()[sink] = i16::MIN;
                    }
                    if taken == 0.0 {
                        continue;
                    }
                }
                mass -= taken;
                let lot = Lot {
                    mass: taken,
                    source,
                    next: first[sink],
                };
                if spare == NONE {
                    first[sink] = lots.len() as u32;
                    lots.push(lot);
                } else {
                    first[sink] = spare;
                    spare = std::mem::replace(&mut lots[spare as usize], lot).next;
                }
            }
        }
        if is_over {
            duals.copy_from_slice(prices);
        }

        true
    }
}

#[inline(always)]
fn lesser(a: f64, b: f64) -> f64 {
    if a < b { a } else { b }
}
