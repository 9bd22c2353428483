//! What happens when the user, or the system, asks the program to stop.

use anyhow::Result;

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
            crate::output::remove_unfinished();
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
