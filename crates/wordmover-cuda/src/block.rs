//! Documents that share a table of ground costs, ready for the device.

use std::ops::Range;

use crate::input::Bags;
use crate::masses::integer_weights;

/// Most distinct words and documents of a block.
const MOST_WORDS: usize = 1 << 16;
const MOST_DOCUMENTS: usize = 1 << 17;

/// Words of all its documents.
const MOST_PLACES: usize = 1 << 24;

/// Numbers the words of blocks; made once for all of them.
pub(crate) struct Numbers {
    /// For every word of the vocabulary, one more than its row, or 0 if it has none yet.
    row: Vec<u32>,
}

/// A block: documents with words as rows of the table, weights also as integers.
#[derive(Debug, Default)]
pub(crate) struct Block {
    pub documents: Range<usize>,
    /// The word of each row.
    pub words: Vec<u32>,
    /// Where documents start in what follows.
    pub starts: Vec<u64>,
    pub rows: Vec<u32>,
    pub masses: Vec<u32>,
    /// Sums of the integer weights.
    pub totals: Vec<u32>,
}

impl Numbers {
    pub fn new(n_words: usize) -> Self {
        Numbers {
            row: vec![0; n_words],
        }
    }

    /// The block that begins with document `start`: as many as there is room for, at least one.
    pub fn block(&mut self, bags: &Bags, start: usize) -> Block {
        let mut block = Block {
            documents: start..start,
            starts: vec![0],
            ..Block::default()
        };
        while block.documents.end < bags.len() && block.documents.len() < MOST_DOCUMENTS {
            let (words, weights) = bags.bag(block.documents.end);
            let is_first = block.documents.is_empty();
            let n_places = block.rows.len() + words.len();
            // A document adds its length to the words at most.
            let n_words = block.words.len() + words.len();
            if !is_first && (n_words > MOST_WORDS || n_places > MOST_PLACES) {
                break;
            }
            for &word in words {
                let row = &mut self.row[word as usize];
                if *row == 0 {
                    block.words.push(word);
                    *row = block.words.len() as u32;
                }
                block.rows.push(*row - 1);
            }
            block.starts.push(block.rows.len() as u64);
            let total = match weights.is_empty() {
                true => 0,
                false => integer_weights(weights, &mut block.masses),
            };
            block.totals.push(total);
            block.documents.end += 1;
        }
        for &word in &block.words {
            self.row[word as usize] = 0;
        }
        block
    }

    #[cfg(test)]
    fn is_clear(&self) -> bool {
        self.row.iter().all(|&row| row == 0)
    }
}

impl Block {
    /// Number of words of a document, counted within the block.
    pub fn length(&self, document: usize) -> usize {
        (self.starts[document + 1] - self.starts[document]) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_name_the_words_of_the_block() {
        let bags = Bags {
            starts: &[0, 2, 2, 5],
            words: &[4, 7, 7, 1, 4],
            weights: &[0.5, 0.5, 0.25, 0.5, 0.25],
        };
        let mut numbers = Numbers::new(9);
        let block = numbers.block(&bags, 0);
        assert_eq!(block.documents, 0..3);
        assert_eq!(block.words, [4, 7, 1]);
        assert_eq!(block.rows, [0, 1, 1, 2, 0]);
        assert_eq!(block.masses, [1, 1, 1, 2, 1]);
        assert_eq!(block.totals, [2, 0, 4]);
        assert!(numbers.is_clear());
        assert_eq!(numbers.block(&bags, 2).words, [7, 1, 4]);
    }
}
