//! What the user sees while waiting, and afterwards. All of it on standard error.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::collections::HashMap;
use std::io::Write;
use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle, WeakProgressBar};
use wordmover::{
    WordVectors,
    document::WordCounts,
    space::{UnknownWords, WordSpace},
};
use wordmover_classify::Event;

/// A terminal with fewer columns has no room for a bar.
const LEAST_COLUMNS_OF_A_BAR: u16 = 60;

/// How often a spinner turns.
const TICK: Duration = Duration::from_millis(120);

/// The bar on the terminal, for whoever must print in between.
static SHOWN: Mutex<Option<WeakProgressBar>> = Mutex::new(None);

/// Prints one line on standard error; one that cannot be printed is lost.
///
/// Control characters, which a file's name may hold, are written as escapes.
pub fn say(line: &str) {
    let mut shown = String::with_capacity(line.len());
    for character in line.chars() {
        if character.is_control() {
            shown.extend(character.escape_default());
        } else {
            shown.push(character);
        }
    }
    let _ = writeln!(std::io::stderr().lock(), "{shown}");
}

/// Removes the bar from the terminal.
pub fn clear() {
    let shown = SHOWN.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some(bar) = shown.and_then(|bar| bar.upgrade()) {
        bar.finish_and_clear();
    }
}

fn show(bar: ProgressBar) -> ProgressBar {
    *SHOWN.lock().unwrap_or_else(PoisonError::into_inner) = Some(bar.downgrade());
    bar
}

/// A counter for work of unknown size: documents read. Seen only on a terminal.
pub fn counter(quiet: bool, what: &'static str) -> ProgressBar {
    let bar = if quiet {
        ProgressBar::hidden()
    } else {
        show(ProgressBar::new_spinner())
    };
    let template = match is_narrow() {
        true => "{spinner} {prefix} {human_pos}",
        false => "{spinner} {prefix} {human_pos} documents, {elapsed}",
    };
    let style = ProgressStyle::with_template(template);
    bar.set_style(style.expect("a sound template"));
    bar.set_prefix(what);
    bar
}

/// Shows that the program is at work where nothing can be counted, and for how long.
/// Seen only on a terminal.
pub fn while_working<T>(quiet: bool, what: &'static str, work: impl FnOnce() -> T) -> T {
    if quiet {
        return work();
    }
    let bar = show(ProgressBar::new_spinner());
    let style = ProgressStyle::with_template("{spinner} {prefix} {elapsed}");
    bar.set_style(style.expect("a sound template"));
    bar.set_prefix(what);
    bar.enable_steady_tick(TICK);
    let result = work();
    bar.finish_and_clear();
    result
}

/// Whether the terminal has room for a few words only.
fn is_narrow() -> bool {
    let size = terminal_size::terminal_size_of(std::io::stderr());
    size.is_some_and(|(columns, _)| columns.0 < LEAST_COLUMNS_OF_A_BAR)
}

/// A bar for `n` steps of a unit, with the time left. Seen only on a terminal.
pub fn bar(quiet: bool, what: impl Into<Cow<'static, str>>, n: u64, unit: &str) -> ProgressBar {
    let bar = if quiet {
        ProgressBar::hidden()
    } else {
        show(ProgressBar::new(n))
    };
    let template = bar_template(is_narrow(), unit);
    let style = ProgressStyle::with_template(&template);
    bar.set_style(style.expect("a sound template").progress_chars("=> "));
    let what = what.into();
    bar.set_message(what.clone());
    bar.set_prefix(what);
    bar
}

fn bar_template(is_narrow: bool, unit: &str) -> String {
    match is_narrow {
        // Cut off where it does not fit.
        true => "{percent:>3}% {eta} {wide_msg}".to_owned(),
        false => {
            format!("{{prefix}} [{{wide_bar}}] {{percent}}% of {{human_len}} {unit}, {{eta}} left")
        }
    }
}

/// Shows what training and evaluation report on their way: a bar for each stage, notes
/// in between, each note once.
pub struct Watcher {
    quiet: bool,
    state: Mutex<Watched>,
}

struct Watched {
    bar: ProgressBar,
    /// Notes printed so far.
    notes: BTreeSet<String>,
}

impl Watcher {
    pub fn new(quiet: bool) -> Self {
        Watcher {
            quiet,
            state: Mutex::new(Watched {
                bar: ProgressBar::hidden(),
                notes: BTreeSet::new(),
            }),
        }
    }

    /// Never breaks off: an interrupt ends the program at once, and what was computed is
    /// in the cache.
    pub fn observe(&self, event: Event) -> ControlFlow<()> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let Watched { bar, notes } = &mut *state;
        match event {
            Event::Stage {
                name,
                n_steps,
                unit,
            } => {
                bar.finish_and_clear();
                *bar = self::bar(self.quiet, name.to_owned(), n_steps, unit);
            }
            Event::Steps(n) => bar.inc(n),
            Event::Note(note) if !self.quiet && notes.insert(note.to_owned()) => {
                bar.suspend(|| say(note));
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }

    /// Takes the last bar away.
    pub fn finish(&self) {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.bar.finish_and_clear();
    }
}

/// Seconds by stage, in the order the stages were first met. Reading and writing go on
/// beside the others, so the sum may be more than the time that passed.
#[derive(Debug, Default)]
pub struct Stages {
    stages: Vec<(&'static str, Duration)>,
}

impl Stages {
    /// Does some work and books its time.
    pub fn time<T>(&mut self, stage: &'static str, work: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = work();
        self.add(stage, start.elapsed());
        result
    }

    /// The stages with their seconds.
    pub fn seconds(&self) -> impl Iterator<Item = (&'static str, f64)> {
        let stages = self.stages.iter();
        stages.map(|(stage, spent)| (*stage, spent.as_secs_f64()))
    }

    /// Books time that was taken elsewhere.
    pub fn add(&mut self, stage: &'static str, spent: Duration) {
        match self.stages.iter_mut().find(|(name, _)| *name == stage) {
            Some((_, total)) => *total += spent,
            None => self.stages.push((stage, spent)),
        }
    }
}

impl std::fmt::Display for Stages {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (i, (stage, seconds)) in self.seconds().enumerate() {
            let comma = if i == 0 { "" } else { ", " };
            write!(f, "{comma}{stage} {seconds:.2} s")?;
        }
        Ok(())
    }
}

/// What was seen of a corpus.
#[derive(Debug, Default, Clone)]
pub struct CorpusSummary {
    pub n_documents: u64,
    n_known: u64,
    n_unknown: u64,
    /// How often each word occurs that the vectors do not know.
    unknown: HashMap<Box<str>, u64>,
    /// Documents without a word to stand on.
    pub n_empty: u64,
    /// Documents that lost words to the limit on distinct words.
    pub n_cut: u64,
}

/// Below this share of known words, the unknown ones are named.
const LOW_COVERAGE: f64 = 0.8;

/// So many of them.
const NAMED: usize = 10;

impl CorpusSummary {
    /// Takes note of one document.
    pub fn observe(&mut self, counts: &WordCounts) {
        self.n_documents += 1;
        self.n_known += counts.n_known;
        self.n_unknown += counts.n_unknown;
        for (word, n) in &counts.unknown {
            match self.unknown.get_mut(word) {
                Some(sum) => *sum += u64::from(*n),
                None => drop(self.unknown.insert(word.clone(), u64::from(*n))),
            }
        }
    }

    /// Documents, words, coverage by the vectors.
    pub fn describe(&self, vectors: &WordVectors, unknown: UnknownWords) -> String {
        let n_words = self.n_known + self.n_unknown;
        let percent = |n: u64| 100.0 * n as f64 / n_words as f64;
        let mut text = format!(
            "{}, {}",
            count(self.n_documents, "document"),
            count(n_words, "word")
        );
        if n_words > 0 {
            let (known, name) = (percent(self.n_known), vectors.name());
            text += &format!(", {known:.1}% of them known to {name}");
        }
        let given = self.unknown.iter();
        let given = given.filter(|(word, _)| unknown.gives_vector(word, vectors));
        let n_given: u64 = given.map(|(_, n)| n).sum();
        if n_given > 0 {
            let how = match unknown {
                UnknownWords::Compose => "composed of their parts",
                _ => "with vectors of their own",
            };
            text += &format!(", {:.1}% {how}", percent(n_given));
        }
        text
    }

    /// The words that the vectors do not know, the most frequent first.
    pub fn unknown_words(&self) -> Vec<(&str, u64)> {
        let mut words: Vec<(&str, u64)> = self.unknown.iter().map(|(w, &n)| (&**w, n)).collect();
        words.sort_unstable_by_key(|&(word, n)| (std::cmp::Reverse(n), word));
        words
    }

    /// What to say where few words are known.
    pub fn coverage_warning(&self) -> Option<String> {
        let n_words = self.n_known + self.n_unknown;
        if n_words == 0 || self.n_known as f64 >= LOW_COVERAGE * n_words as f64 {
            return None;
        }
        let words = self.unknown_words().into_iter().take(NAMED);
        let words: Vec<&str> = words.map(|(word, _)| word).collect();
        Some(format!(
            "few words are known; the most frequent others: {} (all: wordmover vectors coverage)",
            words.join(" ")
        ))
    }

    /// Words known and unknown.
    pub fn n_words(&self) -> (u64, u64) {
        (self.n_known, self.n_unknown)
    }
}

/// Says what was seen of a corpus, and where few of its words are known, which are not.
pub fn say_coverage(summary: &CorpusSummary, space: &WordSpace) {
    say(&summary.describe(space.vectors(), space.unknown()));
    if let Some(warning) = summary.coverage_warning() {
        say(&warning);
    }
}

/// `1 document`, `2,176 documents`, `2 queries`.
pub fn count(n: u64, what: &str) -> String {
    let number = indicatif::HumanCount(n);
    match what.strip_suffix('y') {
        _ if n == 1 => format!("{number} {what}"),
        _ if what.ends_with('s') => format!("{number} {what}es"),
        Some(stem) => format!("{number} {stem}ies"),
        None => format!("{number} {what}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_is_printed_once() {
        let watcher = Watcher::new(false);
        for _ in 0..2 {
            assert!(
                watcher
                    .observe(Event::Note("a class is small"))
                    .is_continue()
            );
        }
        let state = watcher.state.lock().unwrap();
        assert_eq!(state.notes.len(), 1);
    }
}
