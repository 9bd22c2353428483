//! Sets of sinks, as bits.

use crate::lanes::Four;

/// The bits of a word, each by itself.
pub(super) const BITS: [Four; 16] = {
    let mut bits = [[0.0; 4]; 16];
    let mut sink = 0;
    while sink < 64 {
        bits[sink / 4][sink % 4] = f64::from_bits(1 << sink);
        sink += 1;
    }
    bits
};

/// How many words a set of sinks takes.
#[inline(always)]
pub(crate) fn words(m: usize) -> usize {
    m.div_ceil(64)
}

/// Whether the set of `node` has `sink` in it.
#[inline(always)]
pub(super) fn holds(sets: &[u64], words: usize, node: usize, sink: usize) -> bool {
    sets[node * words + sink / 64] >> (sink % 64) & 1 != 0
}

// Not `copy_from_slice`, which calls a function for a word or two.
#[inline(always)]
pub(super) fn copy(set: &mut [u64], other: &[u64]) {
    for (word, other) in set.iter_mut().zip(other) {
        *word = *other;
    }
}

#[inline(always)]
pub(super) fn unite(set: &mut [u64], other: &[u64]) {
    for (word, other) in set.iter_mut().zip(other) {
        *word |= other;
    }
}

#[inline(always)]
pub(super) fn remove(set: &mut [u64], other: &[u64]) {
    for (word, other) in set.iter_mut().zip(other) {
        *word &= !other;
    }
}

/// What was above on the stem is now below: the set of `node` becomes all that moved but what was
/// below the one before, whose old set is in `inner`, where that of `node` goes.
#[inline(always)]
pub(super) fn turn(sets: &mut [u64], words: usize, node: usize, moved: &[u64], inner: &mut [u64]) {
    let set = &mut sets[node * words..][..words];
    for ((word, moved), inner) in set.iter_mut().zip(&moved[..words]).zip(&mut inner[..words]) {
        (*word, *inner) = (*moved & !*inner, *word);
    }
}
