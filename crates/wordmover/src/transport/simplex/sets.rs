//! Sets of sinks, as bits.

/// How many words a set of sinks takes.
#[inline(always)]
pub(in crate::transport) fn words(m: usize) -> usize {
    m.div_ceil(64)
}

/// Whether the set of `node` has `sink` in it.
#[inline(always)]
pub(super) fn holds(sets: &[u64], words: usize, node: usize, sink: usize) -> bool {
    sets[node * words + sink / 64] >> (sink % 64) & 1 != 0
}

/// The set of `node`.
#[inline(always)]
pub(super) fn set_mut(sets: &mut [u64], words: usize, node: usize) -> &mut [u64] {
    &mut sets[node * words..][..words]
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

/// The sinks of a set, ascending.
#[inline(always)]
pub(super) fn each(set: &[u64], mut visit: impl FnMut(usize)) {
    for (i, &word) in set.iter().enumerate() {
        let mut word = word;
        while word != 0 {
            visit(i * 64 + word.trailing_zeros() as usize);
            word &= word - 1;
        }
    }
}
