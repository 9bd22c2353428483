//! What happens when the user, or the system, asks the program to stop.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Result;
use wordmover_classify::Cache;

/// Whether the program is about to end with code 130.
static HAS_COME: AtomicBool = AtomicBool::new(false);

/// The cache in use, if there is one.
static CACHE: OnceLock<Cache> = OnceLock::new();

/// From now on an interrupt waits for the entry that this cache is writing.
pub fn wait_for(cache: &Cache) {
    // A run has one cache.
    let _ = CACHE.set(cache.clone());
}

/// Waits for the end if an interrupt has come: what fails then fails because of it, and
/// is not to be told.
pub fn give_way() {
    while HAS_COME.load(Ordering::SeqCst) {
        std::thread::park();
    }
}

/// From now on an interrupt or a request to terminate removes what is unfinished and
/// ends the program with code 130. A hang-up is left alone: `nohup` must work.
#[cfg(unix)]
pub fn install() -> Result<()> {
    use anyhow::Context;
    use signal_hook::consts::{SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;

    let mut signals =
        Signals::new([SIGINT, SIGTERM]).context("cannot install the interrupt handler")?;
    // On a thread of its own, not in a signal's context: it may lock and print.
    std::thread::spawn(move || {
        if signals.forever().next().is_some() {
            HAS_COME.store(true, Ordering::SeqCst);
            crate::output::remove_unfinished();
            if let Some(cache) = CACHE.get() {
                cache.close();
            }
            crate::progress::clear();
            crate::progress::say("interrupted: unfinished files were removed");
            std::process::exit(130);
        }
    });
    Ok(())
}

/// Elsewhere the system ends the program; an unfinished file stays under its hidden name.
#[cfg(not(unix))]
pub fn install() -> Result<()> {
    Ok(())
}
