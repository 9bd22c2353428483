//! `wordmover vectors`: look at word vectors, convert them, find neighbours.

use std::fmt::Write;
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde_json::json;
use wordmover::text::{StopWords, Tokenizer};
use wordmover::vectors::Precision;
use wordmover::{Error, WordVectors, document::WordCounts, space::UnknownWords};

use super::corpus::Batches;
use crate::args::{VectorArguments, VectorsCommand};
use crate::input::{self, InputOptions};
use crate::output::{OutputFile, cannot_write, check_outputs, print};
use crate::progress::{self, CorpusSummary, Stages, count, say};
use crate::usage::usage_error;

pub fn run(command: &VectorsCommand, quiet: bool) -> Result<()> {
    match command {
        VectorsCommand::Info {
            file,
            limit,
            verify,
            json,
        } => info(file.as_deref(), *limit, *verify, *json),
        VectorsCommand::Convert {
            file,
            output,
            precision,
            limit,
            writing,
        } => convert(file, output, *precision, *limit, writing.force, quiet),
        VectorsCommand::Coverage {
            documents,
            json,
            input,
            vectors,
        } => coverage(documents, &input.options(), vectors, *json, quiet),
        VectorsCommand::Nearest {
            word,
            k,
            vectors,
            json,
        } => nearest(word, *k, vectors, *json),
    }
}

/// Lists the words of a corpus that the vectors do not know. Stop words are no matter of the
/// vectors and count like any other word.
fn coverage(
    documents: &Path,
    input: &InputOptions,
    vectors: &VectorArguments,
    json: bool,
    quiet: bool,
) -> Result<()> {
    let documents = input::open(documents, input)?;
    let vectors = vectors.open()?;
    let tokenizer = Tokenizer {
        stop_words: StopWords::None,
        ..Tokenizer::default()
    };
    let (mut summary, mut stages) = (CorpusSummary::default(), Stages::default());
    let progress = progress::counter(quiet, "reading");
    let mut batches = Batches::of(documents);
    loop {
        let count = |text: &str| WordCounts::from_text(text, &tokenizer, &vectors);
        let batch = batches.next(count, &mut summary, &mut stages, &progress)?;
        if batch.is_empty() {
            break;
        }
    }
    progress.finish_and_clear();
    let unknown = summary.unknown_words();
    if json {
        let (n_known, n_unknown) = summary.n_words();
        let words: Vec<_> = unknown
            .iter()
            .map(
                |(word, n)| json!({ "word": word, "count": n, "composed": vectors.composes(word) }),
            )
            .collect();
        let value = json!({ "known": n_known, "unknown": n_unknown, "words": words });
        return print(&format!("{value}\n"));
    }
    let lines = unknown.iter().map(|(word, n)| format!("{n}\t{word}\n"));
    print(&lines.collect::<String>())?;
    if !quiet {
        say(&summary.describe(&vectors, UnknownWords::default_for(&vectors)));
    }
    Ok(())
}

fn info(file: Option<&Path>, limit: Option<usize>, verify: bool, json: bool) -> Result<()> {
    let vectors = match file {
        Some(path) => WordVectors::open(path, limit)?,
        None if limit.is_some() => {
            return Err(usage_error(
                "--limit needs a FILE: the built-in vectors are used whole",
            ));
        }
        None => WordVectors::builtin(),
    };
    if verify {
        vectors.verify_checksum()?;
    }
    let first: Vec<&str> = vectors.words().take(5).collect();
    let mut out = String::new();
    if json {
        let value = json!({
            "name": vectors.name(),
            "words": vectors.len(),
            "dim": vectors.dim(),
            "precision": vectors.precision().to_string(),
            "checksum": vectors.checksum(),
            "first_words": first,
        });
        writeln!(out, "{value}")?;
    } else {
        writeln!(out, "name       {}", vectors.name())?;
        writeln!(out, "words      {}", vectors.len())?;
        writeln!(out, "dimension  {}", vectors.dim())?;
        writeln!(out, "precision  {}", vectors.precision())?;
        let verified = if verify { " (verified)" } else { "" };
        writeln!(out, "sha256     {}{verified}", vectors.checksum())?;
        writeln!(out, "first      {}", first.join(" "))?;
    }
    print(&out)
}

fn convert(
    file: &Path,
    output: &Path,
    precision: Precision,
    limit: Option<usize>,
    force: bool,
    quiet: bool,
) -> Result<()> {
    if output
        .extension()
        .is_none_or(|suffix| suffix != "safetensors")
    {
        return Err(usage_error(format!(
            "{}: the native form is written to a .safetensors file",
            output.display()
        )));
    }
    check_outputs(&[("--output", Some(output))], &[Some(file)], force)?;
    let mut stages = Stages::default();
    let vectors = stages.time("reading", || WordVectors::open(file, limit))?;
    stages.time("writing", || -> Result<()> {
        let mut out = OutputFile::create(output, force)?;
        vectors
            .write_to(&mut out, precision)
            .map_err(|error| match error {
                Error::Write { source, .. } => cannot_write(output, source),
                other => other.into(),
            })?;
        out.commit()
    })?;
    if !quiet {
        let words = count(vectors.len() as u64, "word");
        say(&format!(
            "wrote {}: {words} x {}, {precision}",
            output.display(),
            vectors.dim()
        ));
        say(&stages.to_string());
    }
    Ok(())
}

fn nearest(word: &str, k: usize, vectors: &VectorArguments, json: bool) -> Result<()> {
    let vectors = vectors.open()?;
    let Some(id) = vectors.id(word) else {
        let lower = word.to_lowercase();
        if lower != word && vectors.id(&lower).is_some() {
            bail!(
                "{} does not know {word:?}, but it knows {lower:?}",
                vectors.name()
            );
        }
        bail!("{} does not know {word:?}", vectors.name());
    };
    let mut query = vec![0.0; vectors.dim()];
    vectors
        .copy_finite_vector(id, &mut query)
        .context("cannot compare")?;
    let found = vectors.nearest(&query, k, &[id]);
    let mut out = String::new();
    if json {
        let found = found
            .iter()
            .map(|&(id, cosine)| json!({"word": vectors.word(id), "cosine": cosine}));
        writeln!(
            out,
            "{}",
            json!({"word": word, "nearest": found.collect::<Vec<_>>()})
        )?;
    } else {
        for (id, cosine) in found {
            writeln!(out, "{cosine:.4}  {}", vectors.word(id))?;
        }
    }
    print(&out)
}
