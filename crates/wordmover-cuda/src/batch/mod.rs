//! Transport problems of any shape, many at once.
//!
//! A block of threads solves a problem (`kernels/shortest_paths.h`). Problems go in parts: while
//! the device solves one, the next is copied to it and the one before is proven
//! ([`proof`]). What the device does not take, or what is not proven, the library solves.

mod masses;
mod memory;
mod problem;
mod proof;
mod start;
#[cfg(all(test, target_os = "linux"))]
mod twin;

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError};

use rayon::prelude::*;
use wordmover::transport::{self, Solution, Workspace};

use crate::device::Device;
use crate::error::{Doing, Error, Result};
use problem::Fitted;
use proof::{Found, proven};

pub(crate) use memory::BatchMemory;
pub use problem::TransportProblem;

/// Bytes of costs of a part: at least, and at most where there is memory for it. In between,
/// parts end when all multiprocessors have work.
const LEAST_BYTES: usize = 64 << 20;
const MOST_BYTES: usize = 4 << 30;

/// Problems for each multiprocessor that a part should have.
const PROBLEMS_EACH: usize = 4;

/// What was done with a batch of transport problems.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BatchStatistics {
    /// Problems in all.
    pub problems: u64,
    /// Those of them that the library's solver solved on the CPU: with too many sources and
    /// sinks, sides that differ by more than 1e-12 of their sum, costs whose spread is below
    /// 1e-250, or without a proof of the device's solution.
    pub on_host: u64,
}

/// A part on the device.
struct Part {
    problems: Range<usize>,
    /// Those of them for the device, in the order of its arrays.
    fitted: Vec<OnDevice>,
}

/// A problem on the device, and where its results lie.
struct OnDevice {
    index: usize,
    fitted: Fitted,
    range: problem::Range,
    /// None if the device was not given it for its costs.
    scale: Option<f64>,
    first_node: usize,
    first_column: usize,
}

impl Device {
    /// The optimal costs of transport problems, as [`transport::cost`] gives them: each is that
    /// of a plan which is proven on the CPU to cost at most 1e-12 of the largest cost, times the
    /// mass, more than the optimum.
    ///
    /// `stop` is looked at between parts of the batch (problems of up to 4 GiB).
    ///
    /// # Errors
    ///
    /// [`Error::Problem`] for the first problem of a part that the library refuses,
    /// [`wordmover::Error::Interrupted`] as [`Error::Host`], and what the driver says.
    pub fn transport_costs(
        &self,
        problems: &[TransportProblem],
        stop: &Arc<AtomicBool>,
    ) -> Result<(Vec<f64>, BatchStatistics)> {
        self.transport(
            problems,
            stop,
            |solution| solution.cost,
            |problem, workspace| {
                let (supply, demand) = (problem.supply, problem.demand);
                Ok(transport::cost(problem.costs, supply, demand, workspace)?)
            },
        )
    }

    /// The same with plans and dual values, as [`transport::solve`] gives them.
    ///
    /// # Errors
    ///
    /// As [`transport_costs`](Self::transport_costs).
    pub fn transport_solutions(
        &self,
        problems: &[TransportProblem],
        stop: &Arc<AtomicBool>,
    ) -> Result<(Vec<Solution>, BatchStatistics)> {
        self.transport(
            problems,
            stop,
            |solution| solution,
            |problem, workspace| {
                let (supply, demand) = (problem.supply, problem.demand);
                Ok(transport::solve_with(
                    problem.costs,
                    supply,
                    demand,
                    workspace,
                )?)
            },
        )
    }

    fn transport<T: Send>(
        &self,
        problems: &[TransportProblem],
        stop: &Arc<AtomicBool>,
        of: impl Fn(Solution) -> T + Sync,
        on_host: impl Fn(&TransportProblem, &mut Workspace) -> wordmover::Result<T> + Sync,
    ) -> Result<(Vec<T>, BatchStatistics)> {
        // A call that panicked left nothing behind that the next would read.
        let mut memory = self.batch.lock().unwrap_or_else(PoisonError::into_inner);
        self.context.bind_to_thread().doing("turning to the GPU")?;
        let mut statistics = BatchStatistics {
            problems: problems.len() as u64,
            on_host: 0,
        };
        let mut results = Vec::with_capacity(problems.len());
        let mut in_flight: Option<(usize, Part)> = None;
        let (mut start, mut slot) = (0, 0);
        let mut next_part = |memory: &mut BatchMemory| -> Result<bool> {
            if stop.load(Ordering::Relaxed) {
                return Err(wordmover::Error::Interrupted.into());
            }
            let mut next = None;
            if start < problems.len() {
                let range = start..self.part_end(problems, start);
                start = range.end;
                next = Some((slot, self.start_part_of(memory, slot, problems, range)?));
                slot = 1 - slot;
            }
            let before = std::mem::replace(&mut in_flight, next);
            let Some((slot, part)) = before else {
                return Ok(in_flight.is_some());
            };
            let found = self.proven_part(memory, slot, problems, &part, &of)?;
            statistics.on_host += found.iter().filter(|found| found.is_none()).count() as u64;
            for solved in complete(found, &problems[part.problems.clone()], stop, &on_host) {
                let index = results.len();
                results.push(match solved {
                    Err(source @ wordmover::Error::Interrupted) => return Err(source.into()),
                    solved => solved.map_err(|source| Error::Problem { index, source })?,
                });
            }
            Ok(in_flight.is_some())
        };
        let done = loop {
            match next_part(&mut memory) {
                Ok(true) => {}
                Ok(false) => break Ok(()),
                Err(error) => break Err(error),
            }
        };
        // Nothing may be in flight when buffers are used again.
        memory.wait()?;
        done.map(|()| (results, statistics))
    }

    /// Most bytes of costs of a part, and so of a problem.
    fn most_bytes(&self) -> usize {
        MOST_BYTES.min(self.memory_bytes / 8)
    }

    /// Where the part that begins at `start` ends.
    fn part_end(&self, problems: &[TransportProblem], start: usize) -> usize {
        let enough = PROBLEMS_EACH * self.n_multiprocessors;
        let mut bytes = 0;
        let mut end = start;
        while end < problems.len() {
            let more = size_of_val(problems[end].costs);
            let is_enough = bytes + more > LEAST_BYTES && end - start >= enough;
            if end > start && (is_enough || bytes + more > self.most_bytes()) {
                break;
            }
            bytes += more;
            end += 1;
        }
        end
    }

    /// Waits for a part; what was found and proven of each of its problems.
    fn proven_part<T: Send>(
        &self,
        memory: &BatchMemory,
        slot: usize,
        problems: &[TransportProblem],
        part: &Part,
        of: impl Fn(Solution) -> T + Sync,
    ) -> Result<Vec<Option<T>>> {
        memory.streams[slot]
            .synchronize()
            .doing("solving transport problems")?;
        let memory = &memory.parts[slot];
        let n_arcs = memory.n_arcs_on_host.values(part.fitted.len());
        let n_nodes = part.fitted.last().map_or(0, OnDevice::end_of_nodes);
        let n_columns = part.fitted.last().map_or(0, OnDevice::end_of_columns);
        let arcs = memory.arcs_on_host.values(n_nodes);
        let masses = memory.arc_masses_on_host.values(n_nodes);
        let duals = memory.duals_on_host.values(n_columns);
        let prove = |(on_device, &n_arcs): (&OnDevice, &i32)| {
            let nodes = on_device.first_node..on_device.end_of_nodes();
            let n_arcs = usize::try_from(n_arcs).ok().filter(|&n| n <= nodes.len())?;
            let found = Found {
                arcs: &arcs[nodes.clone()][..n_arcs],
                masses: &masses[nodes][..n_arcs],
                duals: &duals[on_device.first_column..on_device.end_of_columns()],
                scale: on_device.scale?,
                largest: on_device.range.largest(),
            };
            proven(&problems[on_device.index], &on_device.fitted, found).map(&of)
        };
        let solved: Vec<Option<T>> = part.fitted.par_iter().zip(n_arcs).map(prove).collect();
        let mut all: Vec<Option<T>> = part.problems.clone().map(|_| None).collect();
        for (on_device, solved) in part.fitted.iter().zip(solved) {
            all[on_device.index - part.problems.start] = solved;
        }
        Ok(all)
    }
}

/// What was found, and by the library what was not.
fn complete<T: Send>(
    found: Vec<Option<T>>,
    problems: &[TransportProblem],
    stop: &Arc<AtomicBool>,
    on_host: impl Fn(&TransportProblem, &mut Workspace) -> wordmover::Result<T> + Sync,
) -> Vec<wordmover::Result<T>> {
    let workspace = || {
        let mut workspace = Workspace::default();
        workspace.stop_when(stop.clone());
        workspace
    };
    let each = found.into_par_iter().zip(problems);
    each.map_init(workspace, |workspace, (found, problem)| {
        found.map_or_else(|| on_host(problem, workspace), Ok)
    })
    .collect()
}

impl OnDevice {
    fn end_of_nodes(&self) -> usize {
        self.first_node + self.fitted.masses.len()
    }

    fn end_of_columns(&self) -> usize {
        self.first_column + self.fitted.n_columns
    }
}
