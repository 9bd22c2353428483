//! What happens when the user, or the system, asks the program to stop.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Result;
use wordmover::index::is_index;
use wordmover_classify::Cache;

/// Whether the program is about to end because of a signal.
static HAS_COME: AtomicBool = AtomicBool::new(false);

/// The cache in use, if there is one.
static CACHE: OnceLock<Cache> = OnceLock::new();

/// From now on an interrupt waits for the entry that this cache is writing.
pub fn wait_for(cache: &Cache) {
    // A run has one cache.
    let _ = CACHE.set(cache.clone());
}

/// An index that is being built where there was nothing.
static NEW_INDEX: OnceLock<PathBuf> = OnceLock::new();

/// From now on an interrupt removes the folder of this index, unless it has become one.
pub fn remove_unless_built(index: &Path) {
    // A run builds one.
    let _ = NEW_INDEX.set(index.to_owned());
}

/// Waits for the end if an interrupt has come: what fails then fails because of it, and
/// is not reported.
pub fn give_way() {
    while HAS_COME.load(Ordering::SeqCst) {
        std::thread::park();
    }
}

/// From now on an interrupt removes what is unfinished and ends the program with code
/// 130; a request to terminate does so with code 143. A hang-up is left alone: `nohup`
/// must work.
#[cfg(unix)]
pub fn install() -> Result<()> {
    use anyhow::Context;
    use signal_hook::consts::{SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;

    let mut signals =
        Signals::new([SIGINT, SIGTERM]).context("cannot install the interrupt handler")?;
    // On a thread of its own, not in a signal's context: it may lock and print.
    std::thread::spawn(move || {
        if let Some(signal) = signals.forever().next() {
            HAS_COME.store(true, Ordering::SeqCst);
            // First: an entry that is being written is an unfinished file, too.
            if let Some(cache) = CACHE.get() {
                cache.close();
            }
            wordmover::atomic_file::remove_unfinished();
            if let Some(index) = NEW_INDEX.get().filter(|index| !is_index(index)) {
                // Its writer may put one more file there meanwhile, but not into no folder.
                let _ = fs::remove_dir_all(index).or_else(|_| fs::remove_dir_all(index));
            }
            crate::progress::clear();
            let what = match signal {
                SIGTERM => "terminated",
                _ => "interrupted",
            };
            crate::progress::say(&format!("{what}: unfinished files were removed"));
            // As shells report a program that a signal has ended.
            std::process::exit(128 + signal);
        }
    });
    Ok(())
}

/// Elsewhere the system ends the program; an unfinished file stays under its hidden name.
#[cfg(not(unix))]
pub fn install() -> Result<()> {
    Ok(())
}
