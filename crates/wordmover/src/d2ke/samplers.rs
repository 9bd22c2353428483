//! Random objects: parts of training objects.

use crate::random_documents::Stream;

/// Random objects that are runs of elements of training objects, as in D2KE: an object is drawn,
/// then a length of 1 to `max_len` elements (or to its own length, if that is less), then where
/// the run begins. Empty objects are passed over; of none but empty ones, all parts are empty.
///
/// Part `j` is drawn from stream `j` of the seed alone, so that the first parts are the same for
/// any `n`.
#[must_use]
pub fn sub_slices<T: Clone>(
    objects: &[impl AsRef<[T]>],
    n: usize,
    max_len: usize,
    seed: u64,
) -> Vec<Vec<T>> {
    let objects: Vec<&[T]> = objects
        .iter()
        .map(|object| object.as_ref())
        .filter(|object| !object.is_empty())
        .collect();
    let part = |j: usize| {
        if objects.is_empty() {
            return Vec::new();
        }
        let mut stream = Stream::new(seed, j as u64);
        let object = objects[stream.below(objects.len() as u64) as usize];
        let longest = object.len().min(max_len.max(1));
        let length = 1 + stream.below(longest as u64) as usize;
        let start = stream.below((object.len() - length + 1) as u64) as usize;
        object[start..start + length].to_vec()
    };
    (0..n).map(part).collect()
}

/// [`sub_slices`] of the characters of strings.
#[must_use]
pub fn substrings(strings: &[impl AsRef<str>], n: usize, max_len: usize, seed: u64) -> Vec<String> {
    let characters: Vec<Vec<char>> = strings
        .iter()
        .map(|string| string.as_ref().chars().collect())
        .collect();
    let parts = sub_slices(&characters, n, max_len, seed);
    parts
        .into_iter()
        .map(|part| part.into_iter().collect())
        .collect()
}
