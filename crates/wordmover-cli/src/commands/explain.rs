//! `wordmover explain`: two texts and the plan between them as a page in one file.

use anyhow::{Result, anyhow, bail};
use wordmover_serve::alignment::{Alignment, AlignmentError, AlignmentOptions};
use wordmover_serve::stand_alone;

use super::distance::{documents, quoted, refuse_files};
use crate::args::ExplainArguments;
use crate::output::{OutputFile, check_outputs};
use crate::progress::say;

/// Distinct words of a text that can still be drawn.
const MOST_WORDS: usize = 1000;

/// Shares left unmatched, in hundredths: the slider's steps.
const UNMATCHED: [u32; 10] = [0, 10, 20, 30, 40, 50, 60, 70, 80, 90];

pub fn run(arguments: &ExplainArguments, quiet: bool) -> Result<()> {
    let texts = [arguments.first.as_str(), &arguments.second];
    refuse_files(texts)?;
    let force = arguments.writing.force;
    let inputs = [
        arguments.model.as_deref(),
        arguments.vectors.vectors.as_deref(),
        arguments.text.file(),
    ];
    check_outputs(&[("--html", Some(&arguments.html))], &inputs, force)?;
    let model = documents(
        arguments.model.as_deref(),
        (None, None),
        &arguments.vectors,
        &arguments.text,
    )?;
    let mut alignments = Vec::new();
    for hundredths in UNMATCHED {
        let mut options = AlignmentOptions::default();
        options.unmatched = f64::from(hundredths) / 100.0;
        match Alignment::new(&model, texts, &options, MOST_WORDS) {
            Ok(alignment) => alignments.push(alignment),
            Err(AlignmentError::NoWords(text)) => bail!(
                "{} cannot be explained: it has no word that {} knows, apart from stop words",
                quoted(texts[text]),
                model.vectors().name()
            ),
            Err(error) => return Err(anyhow!(error)),
        }
    }
    let page = stand_alone(&alignments);
    OutputFile::holding(page.as_bytes(), &arguments.html, force)?.commit()?;
    if !quiet {
        say(&format!("wrote {}", arguments.html.display()));
    }
    Ok(())
}
