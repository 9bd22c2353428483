//! Nearest neighbours in learnt spaces.

use std::fmt::Write as _;

use anyhow::Result;

use super::classification::Over;
use crate::neighbors::Record;

/// Errors beside S-WMD's.
pub fn section(out: &mut String, records: &[Record]) -> Result<()> {
    let definition = &records[0].definition;
    writeln!(
        out,
        "\n## {}\n\n`wordmover evaluate --method knn-wmd --learn ...` with the vectors {}: word \
         weights, a linear map of the vectors, or both, learnt from labels with gradients of \
         exact transport; which, and K, are chosen on training documents held out. Errors on \
         test documents in per cent; S-WMD's are those that Huang et al. (2016) published.\n",
        definition.title, definition.vectors
    )?;
    writeln!(
        out,
        "| corpus | splits | learnt | K | error | S-WMD | below it | seconds a split | of them learning |\n{}|",
        "| --- ".repeat(9)
    )?;
    for record in records {
        let Some(run) = record.run() else { continue };
        let chosen: Vec<_> = record.chosen().collect();
        let error = Over::of(chosen.iter().map(|of| 1.0 - of.accuracy));
        let below = run.published - 100.0 * error.mean();
        let mut learnt: Vec<String> = chosen.iter().map(|of| of.learn.to_string()).collect();
        learnt.sort();
        learnt.dedup();
        let mut ks: Vec<usize> = chosen.iter().map(|of| of.choice.k).collect();
        ks.sort_unstable();
        ks.dedup();
        let ks: Vec<String> = ks.iter().map(usize::to_string).collect();
        let n = chosen.len().max(1) as f64;
        let seconds = chosen.iter().map(|of| of.seconds).sum::<f64>() / n;
        let learning = chosen.iter().map(|of| of.learning_seconds).sum::<f64>() / n;
        writeln!(
            out,
            "| {} | {} | {} | {} | {} | {:.1} | {} | {seconds:.0} | {learning:.0} |",
            record.corpus.name,
            chosen.len(),
            learnt.join(", "),
            ks.join(", "),
            error.percent(),
            run.published,
            if below >= 0.0 { "yes" } else { "no" },
        )?;
    }
    writeln!(out, "\nRuns:\n")?;
    for record in records {
        let (name, environment) = (&record.corpus.name, &record.environment);
        super::list_run(out, name, environment, record.seconds)?;
    }
    Ok(())
}
