//! `wordmover vectors`: look at word vectors, convert them, find neighbours.

use std::fmt::Write;
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde_json::json;
use wordmover::vectors::Precision;
use wordmover::{Error, WordVectors};

use crate::args::{VectorArguments, VectorsCommand};
use crate::output::{OutputFile, cannot_write, check_outputs, print};
use crate::progress::{Stages, count, say};
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
        VectorsCommand::Nearest {
            word,
            k,
            vectors,
            json,
        } => nearest(word, *k, vectors, *json),
    }
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
