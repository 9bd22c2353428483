//! What long work says on its way, and how long each stage took.

use std::ops::ControlFlow;
use std::time::Instant;

use serde::Serialize;

use crate::error::{Error, Result};

/// What is heard from training and evaluation while they run.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Event<'a> {
    /// A stage begins that has so many steps still to do; what the cache holds is not
    /// counted.
    Stage {
        /// What is done.
        name: &'a str,
        /// Steps of it.
        n_steps: u64,
        /// What a step is, in the plural.
        unit: &'static str,
    },
    /// So many steps were done.
    Steps(u64),
    /// What was chosen and why, or something the user should know of the data.
    Note(&'a str),
}

/// Hears events, from any thread, and may break the work off: it can be taken up again
/// from the [`Cache`](crate::Cache).
pub type Observer<'a> = dyn Fn(Event) -> ControlFlow<()> + Sync + 'a;

/// Seconds spent in one stage.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StageTime {
    /// The stage.
    pub stage: &'static str,
    /// Wall-clock seconds.
    pub seconds: f64,
}

/// Passes events on and keeps notes and times.
pub(crate) struct Reporter<'a> {
    observer: &'a Observer<'a>,
    pub notes: Vec<String>,
    pub times: Vec<StageTime>,
}

impl<'a> Reporter<'a> {
    pub fn new(observer: &'a Observer<'a>) -> Self {
        Reporter {
            observer,
            notes: Vec::new(),
            times: Vec::new(),
        }
    }

    pub fn observer(&self) -> &'a Observer<'a> {
        self.observer
    }

    pub fn stage(&self, name: &str, n_steps: u64, unit: &'static str) -> Result<()> {
        self.tell(Event::Stage {
            name,
            n_steps,
            unit,
        })
    }

    /// Passes a note on, once: what holds for every weighting is found for each.
    pub fn note(&mut self, note: String) -> Result<()> {
        if self.notes.contains(&note) {
            return Ok(());
        }
        let told = self.tell(Event::Note(&note));
        self.notes.push(note);
        told
    }

    pub fn tell(&self, event: Event) -> Result<()> {
        match (self.observer)(event) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(Error::Interrupted),
        }
    }

    /// Does some work and books its time.
    pub fn time<T>(
        &mut self,
        stage: &'static str,
        work: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        let start = Instant::now();
        let result = work(self);
        let seconds = start.elapsed().as_secs_f64();
        match self.times.iter_mut().find(|time| time.stage == stage) {
            Some(time) => time.seconds += seconds,
            None => self.times.push(StageTime { stage, seconds }),
        }
        result
    }
}
