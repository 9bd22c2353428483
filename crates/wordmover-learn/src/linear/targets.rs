//! What is learnt: the class or the classes of every row, and how much a row counts.

use super::model::n_machines;
use crate::error::{Error, Result, same_length};

/// Labels of rows: one class each, or any number of classes.
///
/// Class ids are the caller's; classes are in ascending order of them.
#[derive(Debug, Clone, PartialEq)]
pub struct Targets {
    classes: Vec<usize>,
    /// Whether every row has exactly one class, and a prediction is one.
    one_each: bool,
    starts: Vec<usize>,
    /// Positions in `classes`.
    positions: Vec<u32>,
    row_weights: Option<Vec<f64>>,
}

impl Targets {
    /// One class for each row.
    ///
    /// # Errors
    ///
    /// If there are no rows, or all are of one class.
    pub fn one_each(labels: &[usize]) -> Result<Self> {
        let targets = Self::new(labels.iter().map(std::slice::from_ref), true)?;
        if let [class] = targets.classes[..] {
            let n_rows = labels.len();
            return Err(Error::OneClass { class, n_rows });
        }
        Ok(targets)
    }

    /// Any number of classes for each row, none among them.
    ///
    /// # Errors
    ///
    /// If there are no rows, or none has a class.
    pub fn any_number(label_sets: &[Vec<usize>]) -> Result<Self> {
        Self::new(label_sets.iter().map(Vec::as_slice), false)
    }

    fn new<'a>(
        sets: impl ExactSizeIterator<Item = &'a [usize]> + Clone,
        one_each: bool,
    ) -> Result<Self> {
        if sets.len() == 0 {
            return Err(Error::Empty { what: "rows" });
        }
        let mut classes: Vec<usize> = sets.clone().flatten().copied().collect();
        classes.sort_unstable();
        classes.dedup();
        if classes.is_empty() {
            return Err(Error::Empty { what: "classes" });
        }
        let (mut starts, mut positions) = (vec![0], Vec::new());
        for set in sets {
            let position = |&class: &usize| classes.partition_point(|&other| other < class) as u32;
            let mut of_row: Vec<u32> = set.iter().map(position).collect();
            of_row.sort_unstable();
            of_row.dedup();
            positions.extend(of_row);
            starts.push(positions.len());
        }
        Ok(Targets {
            classes,
            one_each,
            starts,
            positions,
            row_weights: None,
        })
    }

    /// The same rows, each counted as often as its weight says; a row of weight 0 is not
    /// learnt from.
    ///
    /// # Errors
    ///
    /// If there is not one weight for each row, or one is negative or above 1e100.
    pub fn weighted(mut self, row_weights: &[f64]) -> Result<Self> {
        same_length(
            "weights, one for each row",
            self.n_rows(),
            row_weights.len(),
        )?;
        let is_wrong = |weight: &&f64| **weight != 0.0 && !(1e-100..=1e100).contains(*weight);
        if let Some(weight) = row_weights.iter().find(is_wrong) {
            let requirement = "0 or between 1e-100 and 1e100";
            return Err(Error::parameter("the weight of a row", weight, requirement));
        }
        self.row_weights = Some(row_weights.to_vec());
        Ok(self)
    }

    /// Number of rows.
    #[must_use]
    pub fn n_rows(&self) -> usize {
        self.starts.len() - 1
    }

    /// Class ids, ascending.
    #[must_use]
    pub fn classes(&self) -> &[usize] {
        &self.classes
    }

    /// Whether every row has exactly one class.
    #[must_use]
    pub fn is_one_each(&self) -> bool {
        self.one_each
    }

    /// Classes against the rest: one machine for each, or for the first of two alone, if
    /// every row has one of them.
    #[must_use]
    pub fn n_machines(&self) -> usize {
        n_machines(self.classes.len(), self.one_each)
    }

    /// Class ids of a row, ascending.
    ///
    /// # Panics
    ///
    /// If there is no such row.
    #[must_use]
    pub fn classes_of(&self, row: usize) -> Vec<usize> {
        let positions = self.positions(row).iter();
        positions
            .map(|&position| self.classes[position as usize])
            .collect()
    }

    /// Positions of a row's classes, ascending.
    pub(crate) fn positions(&self, row: usize) -> &[u32] {
        &self.positions[self.starts[row]..self.starts[row + 1]]
    }

    /// Those of the rows that are learnt from.
    pub(crate) fn learnt(&self, rows: impl IntoIterator<Item = usize>) -> Result<Vec<usize>> {
        let rows = rows.into_iter().filter(|&row| self.row_weight(row) > 0.0);
        let rows: Vec<usize> = rows.collect();
        if rows.is_empty() {
            let what = "rows of positive weight";
            return Err(Error::Empty { what });
        }
        Ok(rows)
    }

    pub(crate) fn row_weight(&self, row: usize) -> f64 {
        self.row_weights
            .as_ref()
            .map_or(1.0, |weights| weights[row])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_ascend_and_rows_know_their_positions() {
        let targets = Targets::one_each(&[9, 4, 9, 7]).unwrap();
        assert_eq!(targets.classes(), [4, 7, 9]);
        assert_eq!(targets.positions(0), [2]);
        assert_eq!(targets.classes_of(0), [9]);
        assert_eq!(targets.n_machines(), 3);
        assert_eq!(Targets::one_each(&[9, 4]).unwrap().n_machines(), 1);
        let sets = [vec![8, 2, 8], vec![], vec![2]];
        let targets = Targets::any_number(&sets).unwrap();
        assert_eq!(targets.positions(0), [0, 1]);
        assert_eq!(targets.positions(1), []);
        assert_eq!(targets.n_machines(), 2);
    }

    #[test]
    fn what_cannot_be_learnt_is_refused() {
        assert!(Targets::one_each(&[]).is_err());
        assert!(Targets::one_each(&[3, 3]).is_err());
        assert!(Targets::any_number(&[vec![]]).is_err());
        let targets = Targets::one_each(&[1, 2]).unwrap();
        assert!(targets.clone().weighted(&[1.0]).is_err());
        assert!(targets.clone().weighted(&[1.0, -1.0]).is_err());
        assert!(targets.clone().weighted(&[1.0, f64::NAN]).is_err());
        assert!(targets.weighted(&[0.0, 2.5]).is_ok());
    }
}
