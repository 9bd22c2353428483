//! What the parameters chosen say of training documents that are held out: how sure a
//! decision value is, and which classes are taken for which others.

use wordmover_learn::linear::Calibration;
use wordmover_learn::split::Split;
use wordmover_learn::{Features, LinearSvm, SvmParams, Targets};

use crate::error::Result;
use crate::figures::Figures;
use crate::progress::{Event, Reporter};

/// Decision values of documents, by machines that have not seen them.
#[derive(Debug, Clone)]
pub(crate) struct HeldOut {
    /// What all documents that were judged are; their classes are those of the machines.
    pub targets: Targets,
    /// Positions among these of the documents that were held out.
    pub positions: Vec<usize>,
    /// Row by row, one for each machine.
    pub values: Vec<f64>,
}

impl HeldOut {
    /// Learns without each fold in turn, with the paper's machine.
    pub fn of_svm(
        svm: SvmParams,
        features: Features,
        labels: &[usize],
        folds: &[Split],
        reporter: &Reporter,
    ) -> Result<Self> {
        reporter.stage("documents held out", folds.len() as u64, "machines")?;
        let n = features.n_columns();
        let mut held_out = HeldOut {
            targets: Targets::one_each(labels)?,
            positions: Vec::new(),
            values: Vec::new(),
        };
        for fold in folds {
            let (train, test) = (features.gather(&fold.train), features.gather(&fold.test));
            let train_labels: Vec<usize> = fold.train.iter().map(|&row| labels[row]).collect();
            let svm = LinearSvm::fit(svm, Features::new(&train, n)?, &train_labels)?;
            let values = svm.decision_values(Features::new(&test, n)?)?;
            held_out.positions.extend(&fold.test);
            held_out
                .values
                .extend(placed(&values, &svm, &held_out.targets));
            reporter.tell(Event::Steps(1))?;
        }
        Ok(held_out)
    }

    /// Probabilities, as these documents have them.
    pub fn calibration(&self) -> Result<Calibration> {
        Ok(Calibration::fit(
            &self.values,
            &self.positions,
            &self.targets,
        )?)
    }

    /// How good the predictions are.
    pub fn figures(&self) -> Result<Figures> {
        let classes = self.targets.classes();
        let one_each = self.targets.is_one_each();
        let predicted = self.values.chunks_exact(self.targets.n_machines());
        let predicted = predicted.map(|values| match one_each {
            true => vec![classes[best(values, classes.len())]],
            false => positive(values, classes),
        });
        let truth = self
            .positions
            .iter()
            .map(|&row| self.targets.classes_of(row));
        Figures::new(truth.collect(), predicted.collect(), one_each)
    }
}

/// The values of the machines of a training part, in the places of those of all classes. A
/// class that the part lacks gets less than any other.
fn placed(values: &[f64], svm: &LinearSvm, targets: &Targets) -> Vec<f64> {
    const LEAST: f64 = -1e3;
    let of_class = |values: &[f64], class: usize| {
        let position = svm.classes().iter().position(|&known| known == class);
        match (position, values) {
            (None, _) => LEAST,
            (Some(0), &[value]) => value,
            (Some(_), &[value]) => -value,
            (Some(position), values) => values[position],
        }
    };
    let machines = &targets.classes()[..targets.n_machines()];
    let rows = values.chunks_exact(svm.n_machines());
    rows.flat_map(|values| machines.iter().map(move |&class| of_class(values, class)))
        .collect()
}

/// The position of the class that decision values stand for: the first of the greatest; one
/// machine of two classes speaks for the first.
pub(crate) fn best(values: &[f64], n_classes: usize) -> usize {
    if let (&[value], 2) = (values, n_classes) {
        return usize::from(value <= 0.0);
    }
    let mut best = 0;
    for (position, value) in values.iter().enumerate() {
        if *value > values[best] {
            best = position;
        }
    }
    best
}

/// The classes whose decision values are positive.
pub(crate) fn positive(values: &[f64], classes: &[usize]) -> Vec<usize> {
    let pairs = values.iter().zip(classes);
    let found = pairs.filter(|(value, _)| **value > 0.0);
    found.map(|(_, &class)| class).collect()
}
