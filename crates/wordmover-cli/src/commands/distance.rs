//! `wordmover distance`: how far two texts are apart, and why.

use std::sync::Arc;

use anyhow::{Context, Result, anyhow, bail};
use serde::Serialize;
use wordmover::wmd::{self, WordTransport};
use wordmover::{DocumentModel, DocumentParams, ModelFile};

use super::plan_svg;
use crate::args::{DistanceArguments, set};
use crate::output::{AsideFile, check_target, print};
use crate::progress::say;
use crate::usage::usage_error;

pub fn run(arguments: &DistanceArguments) -> Result<()> {
    if let Some(path) = &arguments.svg {
        check_target(path, arguments.force)?;
    }
    let comparison = compare(arguments)?;
    if let Some(path) = &arguments.svg {
        let drawing = plan_svg::draw(comparison.model.space(), &comparison.plan);
        AsideFile::holding(drawing.as_bytes(), path, arguments.force)?.commit()?;
    }
    if arguments.json {
        print(&format!("{}\n", serde_json::to_string(&comparison.json())?))?;
    } else if arguments.explain {
        print(&comparison.table())?;
    } else {
        print(&format!("{}\n", comparison.plan.distance))?;
        if !comparison.unknown.is_empty() {
            say(&format!("unknown words: {}", comparison.unknown.join(" ")));
        }
    }
    Ok(())
}

/// What `--json` prints, in this order.
#[derive(Serialize)]
struct Report<'a> {
    distance: f64,
    moves: Vec<Move<'a>>,
    unknown: &'a [String],
}

#[derive(Serialize)]
struct Move<'a> {
    from: &'a str,
    to: &'a str,
    mass: f64,
    cost: f64,
}

struct Comparison {
    model: Arc<DocumentModel>,
    plan: WordTransport,
    unknown: Vec<String>,
}

fn compare(arguments: &DistanceArguments) -> Result<Comparison> {
    let texts = [&arguments.first, &arguments.second];
    let model = match &arguments.model {
        Some(path) => {
            if let Some(option) = arguments.first_given() {
                return Err(usage_error(format!(
                    "{option} cannot be given with --model: the model settles it"
                )));
            }
            let file = ModelFile::open(path)?;
            let model = file.with_vectors(arguments.vectors.open_named()?)?;
            model.documents().clone()
        }
        None => {
            let mut params = DocumentParams::default().tokenizer(arguments.text.tokenizer()?);
            // All words count.
            params.bag.max_words = 1 << 24;
            set(&mut params.normalization, arguments.normalize);
            let vectors = arguments.vectors.open()?;
            Arc::new(DocumentModel::without_corpus(params, vectors)?)
        }
    };
    let documents = texts.map(|text| model.document_of(text));
    for (text, document) in texts.iter().zip(&documents) {
        if document.is_empty() {
            bail!(
                "{} has no Word Mover's Distance: it has no word that {} knows, apart from stop words",
                quoted(text),
                model.vectors().name()
            );
        }
    }
    let [first, second] = documents;
    let plan = wmd::transport(model.space(), &first, &second)
        .map_err(|error| anyhow!(error))
        .context("cannot compare the texts")?;
    let unknown = unknown_words(texts.map(String::as_str), &model);
    Ok(Comparison {
        model,
        plan,
        unknown,
    })
}

/// The beginning of a text, enough to know it by.
pub fn quoted(text: &str) -> String {
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{:?}...", &text[..end]),
        None => format!("{text:?}"),
    }
}

/// Distinct words the vectors lack, in order of occurrence.
pub fn unknown_words<'t>(
    texts: impl IntoIterator<Item = &'t str>,
    model: &DocumentModel,
) -> Vec<String> {
    let (tokenizer, vectors) = (model.tokenizer(), model.vectors());
    let mut unknown: Vec<String> = Vec::new();
    for text in texts {
        tokenizer.for_each(text, |word| {
            if vectors.id(word).is_none() && !unknown.iter().any(|known| known == word) {
                unknown.push(word.to_owned());
            }
        });
    }
    unknown
}

impl Comparison {
    fn json(&self) -> Report<'_> {
        let word = |id| self.model.vectors().word(id);
        let moves = self.plan.moves.iter().map(|step| Move {
            from: word(step.from),
            to: word(step.to),
            mass: step.mass,
            cost: step.cost,
        });
        Report {
            distance: self.plan.distance,
            moves: moves.collect(),
            unknown: &self.unknown,
        }
    }

    /// The plan, the moves that matter most first.
    fn table(&self) -> String {
        let word = |id| self.model.vectors().word(id);
        let mut moves = self.plan.moves.clone();
        moves.sort_by(|a, b| (b.mass * b.cost).total_cmp(&(a.mass * a.cost)));
        let width = |words: Vec<&str>| {
            words
                .iter()
                .map(|word| word.chars().count())
                .max()
                .unwrap_or(0)
        };
        let from = width(moves.iter().map(|step| word(step.from)).collect()).max(4);
        let to = width(moves.iter().map(|step| word(step.to)).collect()).max(2);

        let mut table = format!("distance {}\n\n", self.plan.distance);
        table += &format!(
            "{:from$}    {:to$}    mass  distance  share of the whole\n",
            "from", "to"
        );
        for step in &moves {
            let share = match self.plan.distance {
                0.0 => 0.0,
                distance => step.mass * step.cost / distance,
            };
            let bar = "#".repeat((share * 20.0).round() as usize);
            let (from_word, to_word) = (word(step.from), word(step.to));
            let line = format!(
                "{from_word:from$} -> {to_word:to$}  {:.4}  {:8.4}  {:5.1}% {bar}",
                step.mass,
                step.cost,
                100.0 * share
            );
            table += line.trim_end();
            table.push('\n');
        }
        if !self.unknown.is_empty() {
            table += &format!("\nunknown: {}\n", self.unknown.join(" "));
        }
        table
    }
}
