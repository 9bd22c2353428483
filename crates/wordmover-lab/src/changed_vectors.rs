//! Word vectors with one thing about them changed: which words they know, or how many
//! dimensions they have. What that does to accuracy tells the one from the other.

use std::sync::Arc;

use anyhow::{Result, ensure};
use chacha20::ChaCha8Rng;
use chacha20::rand_core::{Rng, SeedableRng};
use nalgebra::{DMatrix, SymmetricEigen};
use wordmover::WordVectors;

/// The words of a table that all tables know, with the table's vectors.
pub fn common(table: &WordVectors, all: &[Arc<WordVectors>]) -> Result<WordVectors> {
    let is_common = |word: &&str| all.iter().all(|other| other.id(word).is_some());
    let words: Vec<String> = table.words().filter(is_common).map(str::to_owned).collect();
    let ids = words.iter().filter_map(|word| table.id(word));
    let rows = ids.flat_map(|id| table.vector(id)).collect();
    let name = format!("{}, common words", table.name());
    Ok(WordVectors::from_rows(&name, words, rows, table.dim())?)
}

/// The same words with their vectors, brought to length 1, in the space of so many
/// principal components of all of them. Nothing is centred: embeddings of unit vectors
/// depend on inner products, and these components keep most of them.
pub fn projected(table: &WordVectors, n_dimensions: usize) -> Result<WordVectors> {
    ensure!(
        (1..=table.dim()).contains(&n_dimensions),
        "{} has {} dimensions: no {n_dimensions} can be taken from it",
        table.name(),
        table.dim()
    );
    let rows: Vec<f64> = unit_rows(table).into_iter().map(f64::from).collect();
    // Columns are words.
    let vectors = DMatrix::from_vec(table.dim(), table.len(), rows);
    let eigen = SymmetricEigen::new(&vectors * vectors.transpose());
    let mut order: Vec<usize> = (0..table.dim()).collect();
    order.sort_by(|&a, &b| eigen.eigenvalues[b].total_cmp(&eigen.eigenvalues[a]));
    let directions = eigen.eigenvectors.select_columns(&order[..n_dimensions]);
    let projected = directions.transpose() * vectors;
    let values = projected.iter().map(|&x| x as f32).collect();
    let words = table.words().map(str::to_owned).collect();
    let name = format!("{}, {n_dimensions} components", table.name());
    Ok(WordVectors::from_rows(&name, words, values, n_dimensions)?)
}

/// All words of the table, with vectors of length 1, and those of `words` that it does
/// not know, each with a random vector of its own: like itself and like nothing else.
/// Every coordinate is uniform, with the mean and deviation that the known words have
/// there.
pub fn filled<'w>(
    table: &WordVectors,
    words: impl Iterator<Item = &'w String>,
    seed: u64,
) -> Result<WordVectors> {
    let mut rows = unit_rows(table);
    let coordinates: Vec<(f64, f64)> = (0..table.dim())
        .map(|axis| {
            let values = || rows.iter().skip(axis).step_by(table.dim());
            let mean = values().map(|&x| f64::from(x)).sum::<f64>() / table.len() as f64;
            let square = |&x: &f32| (f64::from(x) - mean).powi(2);
            let variance = values().map(square).sum::<f64>() / table.len() as f64;
            // A uniform variable reaches so far to both sides of its mean.
            (mean, (3.0 * variance).sqrt())
        })
        .collect();
    let unknown: Vec<String> = words
        .filter(|word| table.id(word).is_none())
        .cloned()
        .collect();
    let mut generator = ChaCha8Rng::seed_from_u64(seed);
    for _ in &unknown {
        rows.extend(coordinates.iter().map(|(mean, reach)| {
            let share = (generator.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
            (mean + reach * (2.0 * share - 1.0)) as f32
        }));
    }
    let words = table.words().map(str::to_owned).chain(unknown).collect();
    let name = format!("{}, random vectors for unknown words", table.name());
    Ok(WordVectors::from_rows(&name, words, rows, table.dim())?)
}

/// All vectors, scaled to length 1; one of length 0 as it is.
fn unit_rows(table: &WordVectors) -> Vec<f32> {
    let ids = 0..table.len() as u32;
    ids.flat_map(|id| {
        let mut vector = table.vector(id);
        let squares = vector.iter().map(|&x| f64::from(x).powi(2));
        let length = squares.sum::<f64>().sqrt();
        if length > 0.0 {
            for x in &mut vector {
                *x = (f64::from(*x) / length) as f32;
            }
        }
        vector
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(words: &[&str], rows: &[f32]) -> Arc<WordVectors> {
        let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
        let dim = rows.len() / words.len();
        Arc::new(WordVectors::from_rows("t", words, rows.to_vec(), dim).unwrap())
    }

    fn dot(a: &[f32], b: &[f32]) -> f64 {
        let products = a.iter().zip(b).map(|(&a, &b)| f64::from(a) * f64::from(b));
        products.sum()
    }

    #[test]
    fn a_restricted_table_has_the_common_words_with_its_own_vectors() {
        let all = [
            table(&["a", "b", "c", "d"], &[1.0, 2.0, 3.0, 4.0]),
            table(&["d", "x", "b"], &[0.5, 0.25, 1.0, 1.0, 0.0, 2.0]),
            table(&["b", "d", "c"], &[7.0, 8.0, 9.0]),
        ];
        let first = common(&all[0], &all).unwrap();
        assert_eq!(first.words().collect::<Vec<_>>(), ["b", "d"]);
        assert_eq!((first.vector(0), first.vector(1)), (vec![2.0], vec![4.0]));
        let second = common(&all[1], &all).unwrap();
        assert_eq!(second.words().collect::<Vec<_>>(), ["d", "b"]);
        assert_eq!(second.vector(1), [0.0, 2.0]);
        let apart = [all[0].clone(), table(&["y"], &[1.0])];
        assert!(common(&apart[0], &apart).is_err());
    }

    #[test]
    fn projection_keeps_inner_products_in_the_space_of_the_components() {
        // Vectors of five dimensions, all in a space of two.
        let (u, v) = ([1.0, 2.0, 0.0, -1.0, 0.5], [0.0, 1.0, 1.0, 1.0, -2.0]);
        let weights: [(f32, f32); 4] = [(1.0, 0.0), (0.3, -1.0), (-2.0, 0.7), (0.1, 0.2)];
        let rows = weights.iter().flat_map(|(a, b)| {
            let coordinates = u.iter().zip(&v);
            coordinates.map(move |(u, v): (&f32, &f32)| a * u + b * v)
        });
        let whole = table(&["a", "b", "c", "d"], &rows.collect::<Vec<f32>>());
        let reduced = projected(&whole, 2).unwrap();
        assert_eq!((reduced.len(), reduced.dim()), (4, 2));
        for i in 0..4 {
            for j in 0..4 {
                let (a, b) = (whole.vector(i), whole.vector(j));
                let cosine = dot(&a, &b) / (dot(&a, &a) * dot(&b, &b)).sqrt();
                let kept = dot(&reduced.vector(i), &reduced.vector(j));
                assert!((kept - cosine).abs() < 1e-6, "{i} {j}: {kept} {cosine}");
            }
        }
        assert!(projected(&whole, 6).is_err() && projected(&whole, 0).is_err());
    }

    #[test]
    fn the_strongest_directions_are_kept() {
        // Three words along one axis, one word along another, none along the third.
        let rows = [
            1.0, 0.0, 0.0, 2.0, 0.0, 0.0, -3.0, 0.0, 0.0, 0.0, 0.0, 5.0f32,
        ];
        let one = projected(&table(&["a", "b", "c", "d"], &rows), 1).unwrap();
        let value = |id| f64::from(one.vector(id)[0]);
        assert!((value(0) - value(1)).abs() < 1e-6 && (value(0) + value(2)).abs() < 1e-6);
        assert!((value(0).abs() - 1.0).abs() < 1e-6 && value(3).abs() < 1e-6);
    }

    #[test]
    fn unknown_words_get_vectors_of_their_own() {
        let n = 400;
        let known: Vec<String> = (0..n).map(|i| format!("w{i}")).collect();
        let known: Vec<&str> = known.iter().map(String::as_str).collect();
        // The second coordinate varies more than the first, whose mean is not 0.
        let rows = (0..n).flat_map(|i| {
            let angle = 0.01 * (i as f32 - 200.0);
            [3.0 * angle.cos(), 3.0 * angle.sin()]
        });
        let rows: Vec<f32> = rows.collect();
        let table = table(&known, &rows);
        let words: Vec<String> = (0..2000).map(|i| format!("w{i}")).collect();
        let filled = |seed| filled(&table, words.iter(), seed).unwrap();
        let (first, again, other) = (filled(1), filled(1), filled(2));
        assert_eq!(first.len(), 2000);
        assert!((dot(&first.vector(7), &first.vector(7)) - 1.0).abs() < 1e-6);
        assert!((dot(&first.vector(7), &table.vector(7)) - 3.0).abs() < 1e-5);
        assert_eq!(first.checksum(), again.checksum());
        assert_ne!(first.vector(1000), other.vector(1000));
        assert_ne!(first.vector(1000), first.vector(1001));
        for axis in 0..2 {
            let moments = |ids: std::ops::Range<u32>| {
                let n = f64::from(ids.end - ids.start);
                let value = |id| f64::from(first.vector(id)[axis]);
                let mean = ids.clone().map(value).sum::<f64>() / n;
                let variance = ids.map(|id| (value(id) - mean).powi(2)).sum::<f64>() / n;
                (mean, variance.sqrt())
            };
            let (known, random) = (moments(0..400), moments(400..2000));
            assert!((known.0 - random.0).abs() < 0.1, "{known:?} {random:?}");
            assert!((known.1 - random.1).abs() < 0.05, "{known:?} {random:?}");
        }
    }
}
