//! The transport problems whose optimal costs are known from POT.
//!
//! `testdata/pot/problems.csv` holds sizes, seeds, costs and checksums; the
//! problems themselves are rebuilt by [`generator`].

mod generator;

use std::path::Path;

use wordmover::points::PointSets;
use wordmover::space::Metric;
use wordmover::transport::Amount;

const HEADER: &str = "id,kind,seed,n,m,dim,cost,checksum";

/// One transport problem and its optimal cost.
pub struct Problem {
    /// Unique; begins with the kind.
    pub id: String,
    /// What is special about it.
    pub kind: String,
    /// Ground costs, row-major: a row for each supply.
    pub costs: Vec<f64>,
    /// Sums to one up to rounding.
    pub supply: Vec<f64>,
    /// Sums to one up to rounding.
    pub demand: Vec<f64>,
    /// The optimal cost: zero, or at least a thousandth of the largest ground cost.
    pub expected: f64,
    /// What the problem's bits hashed to where POT solved it.
    pub expected_checksum: u64,
}

impl Problem {
    /// The hash of this problem's bits.
    pub fn checksum(&self) -> u64 {
        generator::checksum([&self.costs, &self.supply, &self.demand])
    }

    /// The largest ground cost.
    pub fn largest_cost(&self) -> f64 {
        self.costs.iter().copied().fold(0.0, f64::max)
    }

    /// Reads one line of the file and rebuilds the problem it describes.
    fn from_line(line: &str) -> Self {
        let fields: Vec<&str> = line.split(',').collect();
        let [id, kind, seed, n, m, dim, cost, checksum] = fields[..] else {
            panic!("eight fields expected: {line}");
        };
        let size = |field: &str| -> usize {
            field
                .parse()
                .unwrap_or_else(|error| panic!("{error}: {line}"))
        };
        let seed = seed
            .parse()
            .unwrap_or_else(|error| panic!("{error}: {line}"));
        let (costs, supply, demand) = generator::build(kind, seed, size(n), size(m), size(dim));
        Self {
            id: id.to_owned(),
            kind: kind.to_owned(),
            costs,
            supply,
            demand,
            expected: cost
                .parse()
                .unwrap_or_else(|error| panic!("{error}: {line}")),
            expected_checksum: u64::from_str_radix(checksum, 16)
                .unwrap_or_else(|error| panic!("{error}: {line}")),
        }
    }
}

/// Runs `visit` on every problem of the file, one at a time, and returns their number.
///
/// # Panics
///
/// If the file is missing, malformed or shorter than it was committed.
pub fn for_each_problem(mut visit: impl FnMut(Problem)) -> usize {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/pot/problems.csv");
    let text = std::fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some(HEADER));
    let mut n_problems = 0;
    for line in lines {
        visit(Problem::from_line(line));
        n_problems += 1;
    }
    assert_eq!(n_problems, 2_954, "rows in {}", path.display());
    n_problems
}

/// A problem of which only a part is moved, and its optimal cost by `ot.partial`.
pub struct PartialProblem {
    /// The problem, its supplies multiplied by a factor.
    pub problem: Problem,
    /// How much moves.
    pub amount: Amount,
    /// The optimal cost, with the penalty of what is unmatched.
    pub expected: f64,
}

/// Runs `visit` on every problem of `testdata/pot/partial.csv` and returns their number.
///
/// # Panics
///
/// If the file is missing, malformed or shorter than it was committed.
pub fn for_each_partial_problem(mut visit: impl FnMut(PartialProblem)) -> usize {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/pot");
    let read = |name| std::fs::read_to_string(folder.join(name)).unwrap();
    let problems = read("problems.csv");
    let text = read("partial.csv");
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("id,supply_factor,amount,value,cost"));
    let mut n_problems = 0;
    for line in lines {
        let fields: Vec<&str> = line.split(',').collect();
        let [id, factor, amount, value, expected] = fields[..] else {
            panic!("five fields expected: {line}");
        };
        let number = |field: &str| -> f64 { field.parse().unwrap() };
        let start = format!("{id},");
        let found = problems.lines().find(|row| row.starts_with(&start));
        let mut problem = Problem::from_line(found.unwrap());
        problem.supply.iter_mut().for_each(|w| *w *= number(factor));
        visit(PartialProblem {
            problem,
            amount: match amount {
                "mass" => Amount::Mass(number(value)),
                _ => Amount::Penalty(number(value)),
            },
            expected: number(expected),
        });
        n_problems += 1;
    }
    assert_eq!(n_problems, 1_250);
    n_problems
}

/// Two weighted sets of points, a metric, and their distance by POT.
pub struct MetricProblem {
    /// The problem that the points are of, and the metric.
    pub id: String,
    /// The sets.
    pub sets: [PointSets; 2],
    /// The ground cost.
    pub metric: Metric,
    /// The optimal cost.
    pub expected: f64,
}

/// Runs `visit` on every problem of `testdata/pot/metrics.csv`.
///
/// # Panics
///
/// If the file is missing, malformed or shorter than it was committed.
pub fn for_each_metric_problem(mut visit: impl FnMut(MetricProblem)) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/pot");
    let read = |name| std::fs::read_to_string(folder.join(name)).unwrap();
    let problems = read("problems.csv");
    let text = read("metrics.csv");
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("id,metric,cost"));
    let mut n_problems = 0;
    for line in lines {
        let fields: Vec<&str> = line.split(',').collect();
        let [id, metric, expected] = fields[..] else {
            panic!("three fields expected: {line}");
        };
        let start = format!("{id},");
        let row = problems
            .lines()
            .find(|row| row.starts_with(&start))
            .unwrap();
        let row: Vec<&str> = row.split(',').collect();
        let size = |at: usize| -> usize { row[at].parse().unwrap() };
        let dim = size(5);
        let (points, weights) = generator::points(row[1], size(2) as u64, size(3), size(4), dim);
        let set = |side: usize| {
            let mut set = PointSets::new(dim).unwrap();
            set.push(&points[side], Some(&weights[side])).unwrap();
            set
        };
        visit(MetricProblem {
            id: format!("{id} {metric}"),
            sets: [set(0), set(1)],
            metric: metric.parse().unwrap(),
            expected: expected.parse().unwrap(),
        });
        n_problems += 1;
    }
    assert_eq!(n_problems, 400);
}
