//! How problems are laid out: random documents in tiles by their number of words, documents in
//! classes by theirs, and what a block needs of shared memory. `kernels/shape.h` has the same
//! numbers.

use crate::input::RandomDocuments;

/// Random documents with more words are the CPU's.
pub(crate) const MOST_SINKS: usize = 32;

/// Bytes of shared memory up to which a block is one warp.
const NARROW_BYTES: usize = 14 << 10;

/// No random document stands here.
pub(crate) const NO_TARGET: u32 = u32::MAX;

/// The kernel for a number of sinks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shape {
    pub n_sinks: usize,
    /// The most sinks its code is for.
    pub d: usize,
    /// Problems a tile.
    pub problems: usize,
    /// Lanes a problem, for documents of ordinary length and for long ones.
    pub lanes: [usize; 2],
}

impl Shape {
    pub fn of(n_sinks: usize) -> Option<Shape> {
        let (d, problems, lanes) = match n_sinks {
            1 => (1, 1, [1, 1]),
            2 => (2, 16, [2, 8]),
            3 | 4 => (n_sinks, 8, [4, 16]),
            5..=8 => (n_sinks, 4, [8, 32]),
            9..=16 => (16, 2, [16, 32]),
            17..=MOST_SINKS => (32, 1, [32, 32]),
            _ => return None,
        };
        Some(Shape {
            n_sinks,
            d,
            problems,
            lanes,
        })
    }

    /// Columns of a tile.
    pub fn width(&self) -> usize {
        match self.n_sinks {
            1 => 1,
            n_sinks => (self.problems * n_sinks).next_multiple_of(4),
        }
    }

    /// Bytes of shared memory for a document of `n` words.
    pub fn shared_bytes(&self, n: usize) -> usize {
        let capacity = list_capacity(n, self.n_sinks);
        let document = (8 * n).next_multiple_of(16) + 4 * n * self.width() + 8 * n;
        let lists = 6 * self.n_sinks * capacity;
        let graph = 6 * self.d * self.n_sinks + 4 * self.d;
        document + self.problems * (lists + graph).next_multiple_of(4)
    }

    /// Lanes for a document of `n` words; none if shared memory of `most` bytes is too small.
    pub fn lanes_for(&self, n: usize, most: usize) -> Option<usize> {
        let bytes = self.shared_bytes(n);
        match bytes {
            _ if bytes > most || n > usize::from(u16::MAX) => None,
            _ if bytes > NARROW_BYTES => Some(self.lanes[1]),
            _ => Some(self.lanes[0]),
        }
    }
}

/// Bytes with which the second attempt at a problem has room for all it could need.
pub(crate) fn again_bytes(n: usize, n_sinks: usize) -> usize {
    12 * n + 4 * n * n_sinks + 6 * n_sinks * n + 6 * 32 * n_sinks + 4 * 32 + 64
}

pub(crate) fn list_capacity(n: usize, n_sinks: usize) -> usize {
    n.min(16 + n / n_sinks + n / (2 * n_sinks))
}

/// Random documents with one number of words.
#[derive(Debug)]
pub(crate) struct Group {
    pub shape: Shape,
    pub first_column: usize,
    /// Place of its first random document among the targets.
    pub first_target: usize,
    pub n_tiles: usize,
}

/// Random documents side by side in a table of ground costs.
#[derive(Debug, Default)]
pub(crate) struct Layout {
    pub groups: Vec<Group>,
    /// For every place, the random document that stands there, counted from the first of all.
    pub targets: Vec<u32>,
    /// For every column, its random word.
    pub columns: Vec<Option<u32>>,
    /// Random documents that have too many words.
    pub too_long: Vec<usize>,
}

impl Layout {
    /// Of the random documents of a range.
    pub fn new(random: &RandomDocuments, range: std::ops::Range<usize>) -> Layout {
        let mut layout = Layout::default();
        let mut by_sinks: Vec<Vec<usize>> = vec![Vec::new(); MOST_SINKS + 1];
        for j in range.clone() {
            match by_sinks.get_mut(random.n_sinks(j)) {
                Some(group) => group.push(j),
                None => layout.too_long.push(j),
            }
        }
        // The longest first: short work fills the gaps at the end.
        for (n_sinks, documents) in by_sinks.iter().enumerate().rev() {
            let Some(shape) = Shape::of(n_sinks).filter(|_| !documents.is_empty()) else {
                continue;
            };
            layout.groups.push(Group {
                shape,
                first_column: layout.columns.len(),
                first_target: layout.targets.len(),
                n_tiles: documents.len().div_ceil(shape.problems),
            });
            for tile in documents.chunks(shape.problems) {
                let end = layout.columns.len() + shape.width();
                for &j in tile {
                    let words = random.starts[j]..random.starts[j + 1];
                    layout.columns.extend(words.map(|word| Some(word as u32)));
                    layout.targets.push((j - range.start) as u32);
                }
                layout.columns.resize(end, None);
                let n_places = layout.targets.len() + shape.problems - tile.len();
                layout.targets.resize(n_places, NO_TARGET);
            }
            let whole = layout.columns.len().next_multiple_of(4);
            layout.columns.resize(whole, None);
        }
        layout
    }
}

/// Upper ends of the classes of document lengths, which share one launch.
const CLASSES: [usize; 14] = [
    16,
    32,
    48,
    64,
    80,
    96,
    128,
    160,
    192,
    256,
    320,
    384,
    512,
    usize::MAX,
];

/// The documents of one class.
#[derive(Debug)]
pub(crate) struct Class {
    pub documents: std::ops::Range<usize>,
    /// Words of the longest.
    pub longest: usize,
}

/// Sorts `documents`, the longest first, and cuts them into classes. Empty ones must have been
/// left out.
pub(crate) fn classes(documents: &mut [u32], length: impl Fn(u32) -> usize) -> Vec<Class> {
    documents.sort_by_key(|&document| std::cmp::Reverse(length(document)));
    let class = |document: u32| CLASSES.partition_point(|&end| end < length(document));
    let mut classes = Vec::new();
    let mut start = 0;
    for run in documents.chunk_by(|&a, &b| class(a) == class(b)) {
        classes.push(Class {
            documents: start..start + run.len(),
            longest: length(run[0]),
        });
        start += run.len();
    }
    classes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_random_document_stands_once_with_its_words() {
        let lengths = [3, 1, 6, 2, 2, 6, 21, 1, 40, 3, 3, 3, 3, 3, 3, 3, 3, 1];
        let mut starts = vec![0];
        for length in lengths {
            starts.push(starts[starts.len() - 1] + length);
        }
        let random = RandomDocuments {
            starts: &starts,
            vectors: &[],
        };
        let layout = Layout::new(&random, 1..lengths.len());
        assert_eq!(layout.too_long, [8]);
        let mut seen = vec![0; lengths.len() - 1];
        for group in &layout.groups {
            let Shape {
                problems, n_sinks, ..
            } = group.shape;
            for place in 0..group.n_tiles * problems {
                let target = layout.targets[group.first_target + place];
                if target == NO_TARGET {
                    continue;
                }
                seen[target as usize] += 1;
                let first = group.first_column
                    + place / problems * group.shape.width()
                    + place % problems * n_sinks;
                let word = starts[target as usize + 1] as u32;
                for k in 0..n_sinks {
                    assert_eq!(layout.columns[first + k], Some(word + k as u32));
                }
            }
            assert_eq!(group.first_column % 4, 0);
        }
        seen[7] += 1;
        assert!(seen.iter().all(|&times| times == 1), "{seen:?}");
    }

    #[test]
    fn classes_have_all_documents_the_longest_first() {
        let lengths = [5usize, 500, 17, 16, 90, 700, 1];
        let mut documents: Vec<u32> = (0..7).collect();
        let classes = classes(&mut documents, |d| lengths[d as usize]);
        assert_eq!(documents, [5, 1, 4, 2, 3, 0, 6]);
        let longest: Vec<usize> = classes.iter().map(|class| class.longest).collect();
        assert_eq!(longest, [700, 500, 90, 17, 16]);
        assert_eq!(
            classes.last().map(|class| class.documents.clone()),
            Some(4..7)
        );
    }
}
