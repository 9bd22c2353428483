//! Duals of the words of a corpus, which are feasible for every document: what first bounds are
//! made of.
//!
//! Words of the query have duals `v`. A word of the corpus can have any dual up to the least of
//! its costs less these, and since costs are not negative, that is never below minus the
//! greatest `v`. Most words of a large corpus are rare, and the documents that they could bring
//! near are few: rare words have that least value until a document depends on them.
//!
//! A word that a document shares with the query keeps the mass that both have there: only the
//! excess is a source, and what is kept demands nothing. With `kept` the weight in the query, `v`
//! its dual there and `u` its dual as a source, the part of a document's weight `w` in the bound
//! is `u max(w - kept, 0) - v min(w, kept)`. It is at least `w min(u, -v)`: so there is a bound
//! that is one product a word.

/// Of a word of the query that documents have, too.
#[derive(Debug, Clone, Copy)]
struct Kept {
    weight: f64,
    /// Its dual in the query.
    dual: f64,
    /// The dual of what a document has of it beyond that.
    excess: f64,
}

/// A word that the query does not have.
const PLAIN: u32 = u32::MAX;

/// One of which nothing is known but what every word costs.
const MISSING: u32 = u32::MAX - 1;

/// Duals by number of a word.
#[derive(Debug, Default)]
pub(crate) struct WordDuals {
    /// The value of the query if a document shares no word with it: its weights by its duals.
    query: f64,
    /// What a unit of the word's mass costs at least.
    least_terms: Vec<f32>,
    /// What every word costs at least.
    anybody: f32,
    /// [`PLAIN`], [`MISSING`], or the place among the kept words.
    kinds: Vec<u32>,
    kept: Vec<Kept>,
}

impl WordDuals {
    /// Begins anew: all are missing. `query` is the sum of the weights of the query by its duals.
    pub fn reset(&mut self, n_words: usize, query: f64, sink_duals: &[f32]) {
        self.query = query;
        let greatest = sink_duals.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        self.anybody = -greatest;
        self.least_terms.clear();
        self.least_terms.resize(n_words, self.anybody);
        self.kinds.clear();
        self.kinds.resize(n_words, MISSING);
        self.kept.clear();
    }

    /// Sets the duals of words that the query does not have.
    pub fn set(&mut self, numbers: &[u32], duals: &[f32]) {
        for (&number, &dual) in numbers.iter().zip(duals) {
            self.least_terms[number as usize] = dual.max(self.anybody);
            self.kinds[number as usize] = PLAIN;
        }
    }

    /// Sets those of a word of the query: its weight, its dual, and that of an excess.
    pub fn keep(&mut self, number: u32, weight: f64, dual: f32, excess: f32) {
        let excess = excess.max(self.anybody);
        self.set(&[number], &[excess.min(-dual)]);
        let (dual, excess) = (f64::from(dual), f64::from(excess));
        self.kinds[number as usize] = self.kept.len() as u32;
        self.kept.push(Kept {
            weight,
            dual,
            excess,
        });
    }

    /// A lower bound of the distance of a document, the cheapest. NaN if a number is none of a
    /// word.
    #[inline]
    pub fn loose<A: Copy, B: Copy>(
        &self,
        numbers: &[A],
        weights: &[B],
        number: impl Fn(A) -> u32,
        weight: impl Fn(B) -> f64,
    ) -> f64 {
        let term = |at: A, mass: B| match self.least_terms.get(number(at) as usize) {
            Some(&least) => weight(mass) * f64::from(least),
            None => f64::NAN,
        };
        // Four sums, so that none has to wait for the one before.
        let (numbers, last_numbers) = numbers.as_chunks::<4>();
        let (weights, last_weights) = weights.as_chunks::<4>();
        let mut sums = [0.0; 4];
        for (numbers, weights) in numbers.iter().zip(weights) {
            for l in 0..4 {
                sums[l] += term(numbers[l], weights[l]);
            }
        }
        let last = last_numbers.iter().zip(last_weights);
        let last: f64 = last.map(|(&at, &mass)| term(at, mass)).sum();
        self.query + (sums[0] + sums[1]) + (sums[2] + sums[3]) + last
    }

    /// A better one: kept words count as they are. Replaces `missing` by the words whose duals are
    /// missing, with their weights; each takes part by what every word costs. NaN if a number is
    /// none of a word.
    #[inline]
    pub fn tight(
        &self,
        bag: impl Iterator<Item = (u32, f64)>,
        missing: &mut Vec<(u32, f64)>,
    ) -> f64 {
        missing.clear();
        let terms = bag.map(|(number, weight)| {
            let Some(&kind) = self.kinds.get(number as usize) else {
                return f64::NAN;
            };
            if kind == MISSING {
                missing.push((number, weight));
            }
            match self.kept.get(kind as usize) {
                None => weight * f64::from(self.least_terms[number as usize]),
                Some(kept) => {
                    let excess = (weight - kept.weight).max(0.0);
                    excess * kept.excess - weight.min(kept.weight) * kept.dual
                }
            }
        });
        terms.sum::<f64>() + self.query
    }

    /// What a bound gains when the dual of a missing word of this weight becomes known.
    pub fn gain(&self, weight: f64, dual: f32) -> f64 {
        weight * (f64::from(dual) - f64::from(self.anybody)).max(0.0)
    }
}
