//! Probabilities from decision values.

use proptest::prelude::*;
use wordmover_learn::Targets;
use wordmover_learn::linear::{Calibration, Sigmoid};

// scikit-learn 1.9.1: sklearn.calibration._sigmoid_calibration, which minimises the same
// function by L-BFGS.
#[test]
fn the_sigmoid_is_that_of_scikit_learn() {
    let values = [
        2.04, -2.56, 0.42, -0.57, -0.45, -0.22, -2.02, -0.23, -0.87, 3.32, 0.23, -0.35,
    ];
    let labels = [0, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 1];
    let rows: Vec<usize> = (0..12).collect();
    let targets = Targets::one_each(&labels).unwrap();
    let calibration = Calibration::fit(&values, &rows, &targets).unwrap();
    let sigmoid = calibration.sigmoids()[0];
    assert!(
        (sigmoid.slope - -0.9214053264161929).abs() < 1e-4,
        "{sigmoid:?}"
    );
    assert!(
        (sigmoid.offset - 1.182066430032829).abs() < 1e-4,
        "{sigmoid:?}"
    );
    let probabilities = calibration.probabilities(&[0.5]);
    assert_eq!(probabilities.len(), 2);
    assert_eq!(probabilities[0] + probabilities[1], 1.0);
    let again = Calibration::from_parts(2, true, calibration.sigmoids().to_vec()).unwrap();
    assert_eq!(again, calibration);
}

#[test]
fn what_cannot_be_calibrated_is_refused() {
    let targets = Targets::one_each(&[0, 1, 2]).unwrap();
    assert!(Calibration::fit(&[], &[], &targets).is_err());
    assert!(Calibration::fit(&[1.0, 2.0], &[0], &targets).is_err());
    assert!(Calibration::fit(&[1.0, 2.0, f64::NAN], &[0], &targets).is_err());
    assert!(Calibration::fit(&[1.0, 2.0, 3.0], &[3], &targets).is_err());
    let sigmoid = |slope| Sigmoid { slope, offset: 0.0 };
    assert!(Calibration::from_parts(3, true, vec![sigmoid(1.0)]).is_err());
    assert!(Calibration::from_parts(2, true, vec![sigmoid(f64::NAN)]).is_err());
    // Nothing is far too far.
    let steep = Calibration::from_parts(3, true, vec![sigmoid(1e300); 3]).unwrap();
    let probabilities = steep.probabilities(&[1e300, 1e300, 1e300]);
    assert_eq!(probabilities, [1.0 / 3.0; 3]);
}

proptest! {
    #[test]
    fn the_gradient_vanishes_and_probabilities_sum_to_one(
        values in prop::collection::vec(-3.0..3.0f64, 60), labels in prop::collection::vec(0..3usize, 20)
    ) {
        let mut labels = labels;
        (labels[0], labels[1], labels[2]) = (0, 1, 2);
        let rows: Vec<usize> = (0..20).collect();
        let targets = Targets::one_each(&labels).unwrap();
        let calibration = Calibration::fit(&values, &rows, &targets).unwrap();
        for (machine, sigmoid) in calibration.sigmoids().iter().enumerate() {
            let n = labels.iter().filter(|&&label| label == machine).count() as f64;
            let (mut slope, mut offset) = (0.0, 0.0);
            for (values, &label) in values.chunks_exact(3).zip(&labels) {
                let target = if label == machine { (n + 1.0) / (n + 2.0) } else { 1.0 / (22.0 - n) };
                let difference = target - sigmoid.probability(values[machine]);
                slope += difference * values[machine];
                offset += difference;
            }
            prop_assert!(slope.abs() < 1e-4 && offset.abs() < 1e-4, "{slope} {offset}");
        }
        for row in calibration.probabilities(&values).chunks_exact(3) {
            prop_assert!(row.iter().all(|p| (0.0..=1.0).contains(p)));
            prop_assert!((row.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        }
        let sets: Vec<Vec<usize>> = labels.iter().map(|&label| vec![label]).collect();
        let each = Calibration::fit(&values, &rows, &Targets::any_number(&sets).unwrap()).unwrap();
        prop_assert_eq!(each.sigmoids(), calibration.sigmoids());
        let first = each.sigmoids()[0].probability(values[0]);
        prop_assert_eq!(each.probabilities(&values)[0], first);
    }
}
