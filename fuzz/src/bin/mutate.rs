//! Drives the targets with stable Rust: mutates the files of `corpus/<target>/`, and keeps
//! mutants with a new outcome to mutate further.
//!
//! ```text
//! mutate EXECUTIONS SEED TARGET...
//! ```
//!
//! An input that makes a body panic, take longer than ten seconds or ask for more than
//! 256 MiB at once is written to `artifacts/<target>/`, and the program ends with 1 after
//! the other executions.

use std::alloc::{GlobalAlloc, Layout, System};
use std::collections::HashSet;
use std::error::Error;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use wordmover_fuzz::{MAX_INPUT, TARGETS, scratch};

const MAX_ALLOCATION: usize = 256 << 20;
const MAX_SECONDS: u64 = 10;
const MAX_KEPT: usize = 4096;
const MAX_FINDINGS: usize = 20;

/// Notes the largest allocation: one that a header of some bytes asks for is a finding.
struct Noting;
static LARGEST: AtomicUsize = AtomicUsize::new(0);

// SAFETY: everything is the system's allocator; noting a number allocates nothing.
unsafe impl GlobalAlloc for Noting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LARGEST.fetch_max(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promises are passed on.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Noting = Noting;

/// The input being tried and when it began, in milliseconds of the run; for the watchdog.
#[derive(Default)]
struct Current {
    input: Mutex<(&'static str, Vec<u8>)>,
    began: AtomicU64,
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [executions, seed, targets @ ..] = &arguments[..] else {
        return Err("expected EXECUTIONS SEED TARGET...".into());
    };
    let (executions, seed): (u64, u64) = (executions.parse()?, seed.parse()?);
    let message = Arc::new(Mutex::new(String::new()));
    let heard = message.clone();
    std::panic::set_hook(Box::new(move |panic| {
        *heard
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner()) = panic.to_string();
    }));
    let current = Arc::new(Current::default());
    let start = Instant::now();
    watch(current.clone(), start);
    let mut n_findings = 0;
    for name in targets {
        let target = TARGETS.iter().find(|(target, _)| target == name);
        let (name, body) = target.ok_or_else(|| format!("there is no target {name}"))?;
        let mut corpus = read_corpus(name)?;
        let mut random = Random(seed ^ name.len() as u64);
        let mut outcomes = HashSet::new();
        let began = Instant::now();
        let (mut n_done, mut findings) = (0, HashSet::new());
        while n_done < executions && findings.len() < MAX_FINDINGS {
            let is_seed = (n_done as usize) < corpus.len();
            let input = if is_seed {
                corpus[n_done as usize].clone()
            } else {
                random.mutant(&corpus)
            };
            *current.input.lock().map_err(|_| "poisoned")? = (name, input.clone());
            current
                .began
                .store(start.elapsed().as_millis() as u64, Ordering::Relaxed);
            LARGEST.store(0, Ordering::Relaxed);
            let outcome = catch_unwind(AssertUnwindSafe(|| body(&input)));
            current.began.store(u64::MAX, Ordering::Relaxed);
            n_done += 1;
            let largest = LARGEST.load(Ordering::Relaxed);
            let problem = match outcome {
                Ok(_) if largest > MAX_ALLOCATION => format!("{largest} bytes at once"),
                Ok(outcome) => {
                    if outcomes.insert(outcome) && !is_seed && corpus.len() < MAX_KEPT {
                        corpus.push(input);
                    }
                    continue;
                }
                Err(_) => message.lock().map_err(|_| "poisoned")?.clone(),
            };
            // The place of the panic and no more: one example of each is enough.
            let place = problem.lines().next().unwrap_or_default().to_owned();
            if findings.insert(place) {
                eprintln!("{name}: {problem}\n  {}", save(name, &input)?);
            }
        }
        n_findings += findings.len();
        println!(
            "{name}: {n_done} executions, {} outcomes, {} findings, {:.0} s",
            outcomes.len(),
            findings.len(),
            began.elapsed().as_secs_f64()
        );
        std::io::stdout().flush()?;
    }
    scratch::clean();
    if n_findings > 0 {
        Err("there are findings".into())
    } else {
        Ok(())
    }
}

/// Ends the program when an input takes too long.
fn watch(current: Arc<Current>, start: Instant) {
    current.began.store(u64::MAX, Ordering::Relaxed);
    std::thread::spawn(move || {
        loop {
            std::thread::sleep(Duration::from_secs(1));
            let began = current.began.load(Ordering::Relaxed);
            let now = start.elapsed().as_millis() as u64;
            if began < now
                && now - began > MAX_SECONDS * 1000
                && let Ok(input) = current.input.lock()
            {
                let saved = save(input.0, &input.1);
                eprintln!("{}: longer than {MAX_SECONDS} s\n  {saved:?}", input.0);
                std::process::exit(1);
            }
        }
    });
}

fn save(target: &str, input: &[u8]) -> std::io::Result<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("artifacts")
        .join(target);
    std::fs::create_dir_all(&folder)?;
    let hash = input.iter().fold(0u64, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let path = folder.join(format!("found-{hash:016x}"));
    std::fs::write(&path, input)?;
    Ok(path.display().to_string())
}

fn read_corpus(target: &str) -> Result<Vec<Vec<u8>>, Box<dyn Error>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("corpus")
        .join(target);
    let mut paths: Vec<_> = std::fs::read_dir(&folder)?
        .collect::<Result<Vec<_>, _>>()?
        .iter()
        .map(|entry| entry.path())
        .collect();
    paths.sort();
    let files = paths
        .iter()
        .map(std::fs::read)
        .collect::<Result<Vec<_>, _>>()?;
    if files.is_empty() {
        return Err(format!("there are no seeds in {}", folder.display()).into());
    }
    Ok(files
        .into_iter()
        .filter(|file| file.len() <= MAX_INPUT)
        .collect())
}

/// Splitmix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }

    fn mutant(&mut self, corpus: &[Vec<u8>]) -> Vec<u8> {
        let mut input = corpus[self.below(corpus.len())].clone();
        for _ in 0..1 + self.below(4) {
            self.change(&mut input, corpus);
        }
        input.truncate(MAX_INPUT);
        input
    }

    fn change(&mut self, input: &mut Vec<u8>, corpus: &[Vec<u8>]) {
        const BYTES: &[u8] =
            b"\0\x01\x7f\x80\xff \n\r\t,\"'{}[]:\\09-+.eE\xc3\xa9\x1f\x8b\xef\xbb\xbf";
        const WORDS: [&[u8]; 12] = [
            b"\r\n",
            b"\"\"",
            b"1e999",
            b"-1",
            b"NaN",
            b"inf",
            b"18446744073709551615",
            b"4294967296",
            b"null",
            b"\xef\xbb\xbf",
            b"\xe2\x80\x99s",
            b"0.1",
        ];
        let at = self.below(input.len() + 1);
        let length = 1 + self.below(16);
        let end = (at + length).min(input.len());
        match self.below(10) {
            0 if at < input.len() => input[at] ^= 1 << self.below(8),
            1 if at < input.len() => input[at] = BYTES[self.below(BYTES.len())],
            2 if at < input.len() => input[at] = self.next() as u8,
            3 => drop(input.drain(at..end)),
            4 => {
                let copy = input[at..end].to_vec();
                let to = self.below(input.len() + 1);
                input.splice(to..to, copy);
            }
            5 => drop(input.splice(at..at, WORDS[self.below(WORDS.len())].iter().copied())),
            6 => input.truncate(at),
            7 => {
                let other = &corpus[self.below(corpus.len())];
                let from = self.below(other.len() + 1);
                input.truncate(at);
                input.extend_from_slice(&other[from..]);
            }
            8 if at + 8 <= input.len() => {
                let word = match self.below(4) {
                    0 => 0,
                    1 => u64::MAX,
                    2 => 1 << self.below(64),
                    _ => self.next(),
                };
                input[at..at + 8].copy_from_slice(&word.to_le_bytes());
            }
            _ => drop(input.splice(at..at, [BYTES[self.below(BYTES.len())]])),
        }
    }
}
