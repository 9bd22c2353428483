//! What the parameters chosen say of training documents that are held out: how sure a
//! decision value is, and which classes are taken for which others.

use wordmover_learn::linear::Calibration;
use wordmover_learn::split::Split;
use wordmover_learn::{Features, LinearSvm, SvmParams, Targets};

use crate::corpus::LabeledCorpus;
use crate::error::Result;
use crate::figures::Figures;
use crate::progress::{Event, Reporter};

/// Decision values of documents, by machines that have not seen them.
#[derive(Debug, Clone)]
pub(crate) struct HeldOut {
    /// Positions in the corpus.
    pub rows: Vec<usize>,
    /// Row by row, one for each machine.
    pub values: Vec<f64>,
}

impl HeldOut {
    /// Learns without each fold in turn, with the paper's machine. `rows` are positions in
    /// the corpus, folds count positions among them.
    pub fn of_svm(
        svm: SvmParams,
        features: Features,
        labels: &[usize],
        rows: &[usize],
        folds: &[Split],
        reporter: &Reporter,
    ) -> Result<Self> {
        reporter.stage("documents held out", folds.len() as u64, "machines")?;
        let n = features.n_columns();
        let targets = Targets::one_each(labels)?;
        let mut held_out = HeldOut {
            rows: Vec::new(),
            values: Vec::new(),
        };
        for fold in folds {
            let (train, test) = (features.gather(&fold.train), features.gather(&fold.test));
            let train_labels: Vec<usize> = fold.train.iter().map(|&row| labels[row]).collect();
            let svm = LinearSvm::fit(svm, Features::new(&train, n)?, &train_labels)?;
            let values = svm.decision_values(Features::new(&test, n)?)?;
            held_out.rows.extend(fold.test.iter().map(|&row| rows[row]));
            held_out.values.extend(placed(&values, &svm, &targets));
            reporter.tell(Event::Steps(1))?;
        }
        Ok(held_out)
    }

    /// Probabilities, as these documents have them.
    pub fn calibration(&self, train: &LabeledCorpus) -> Result<Calibration> {
        let targets = train.targets(&self.rows)?;
        let rows: Vec<usize> = (0..self.rows.len()).collect();
        Ok(Calibration::fit(&self.values, &rows, &targets)?)
    }

    /// How good the predictions are. `classes` are those of the machines.
    pub fn figures(&self, train: &LabeledCorpus, classes: &[usize]) -> Result<Figures> {
        let one_each = train.label_sets().is_none();
        let n_machines = self.values.len() / self.rows.len().max(1);
        let predicted = self.values.chunks_exact(n_machines.max(1));
        let predicted = predicted.map(|values| match one_each {
            true => vec![classes[best(values, classes.len())]],
            false => positive(values, classes),
        });
        let truth = self.rows.iter().map(|&row| train.classes_of(row).to_vec());
        Figures::new(truth.collect(), predicted.collect(), one_each)
    }
}

/// The values of the machines of a training part, in the places of those of all classes. A
/// class that the part lacks gets less than any other.
fn placed(values: &[f64], svm: &LinearSvm, targets: &Targets) -> Vec<f64> {
    let classes = targets.classes();
    if svm.classes().len() == classes.len() {
        return values.to_vec();
    }
    const LEAST: f64 = -1e3;
    let mut placed = Vec::new();
    for values in values.chunks_exact(svm.n_machines()) {
        for class in classes {
            let position = svm.classes().iter().position(|known| known == class);
            placed.push(match (position, values) {
                (None, _) => LEAST,
                (Some(0), &[value]) => value,
                (Some(_), &[value]) => -value,
                (Some(position), values) => values[position],
            });
        }
    }
    placed
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
