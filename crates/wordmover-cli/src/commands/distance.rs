//! `wordmover distance`: how far two texts are apart, and why.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, anyhow, bail};
use serde::Serialize;
use wordmover::transport::Amount;
use wordmover::wmd::{self, WordMove};
use wordmover::{Document, DocumentModel, ModelFile, document_model::DocumentParams};

use super::plan_svg;
use crate::args::{DistanceArguments, set};
use crate::output::{OutputFile, check_outputs, print};
use crate::progress::say;
use crate::usage::usage_error;

pub fn run(arguments: &DistanceArguments, quiet: bool) -> Result<()> {
    refuse_files([&arguments.first, &arguments.second])?;
    let outputs = [("--svg", arguments.svg.as_deref())];
    let inputs = [
        arguments.model.as_deref(),
        arguments.vectors.vectors.as_deref(),
        arguments.text.file(),
    ];
    check_outputs(&outputs, &inputs, arguments.force)?;
    let comparison = compare(arguments)?;
    if let Some(path) = &arguments.svg {
        let drawing = plan_svg::draw(&comparison.words(), &comparison.title(), &comparison.moves);
        OutputFile::holding(drawing.as_bytes(), path, arguments.force)?.commit()?;
    }
    if arguments.json {
        print(&format!("{}\n", serde_json::to_string(&comparison.json())?))?;
    } else if arguments.explain {
        print(&comparison.table())?;
    } else {
        print(&format!("{}\n", comparison.distance))?;
        if !quiet && !comparison.unknown.is_empty() {
            say(&format!("unknown words: {}", comparison.unknown.join(" ")));
        }
    }
    Ok(())
}

/// What `--json` prints, in this order.
#[derive(Serialize)]
struct Report<'a> {
    distance: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    mass: Option<f64>,
    moves: Vec<Move<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    unmatched: Option<[Vec<Unmatched<'a>>; 2]>,
    unknown: &'a [String],
}

#[derive(Serialize)]
struct Move<'a> {
    from: &'a str,
    to: &'a str,
    mass: f64,
    cost: f64,
}

/// Mass of a word that does not move.
#[derive(Serialize)]
struct Unmatched<'a> {
    word: &'a str,
    mass: f64,
}

struct Comparison {
    model: Arc<DocumentModel>,
    documents: [Document; 2],
    distance: f64,
    moves: Vec<WordMove>,
    partial: Option<Partial>,
    unknown: Vec<String>,
}

/// What partial transport moves, and what it leaves of each word of the two texts.
struct Partial {
    mass: f64,
    unmatched: [Vec<f64>; 2],
}

fn compare(arguments: &DistanceArguments) -> Result<Comparison> {
    let texts = [&arguments.first, &arguments.second];
    let model = match &arguments.model {
        Some(path) => {
            if let Some(option) = arguments.given().next() {
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
            params.unknown = arguments.text.unknown;
            let vectors = arguments.vectors.open()?;
            arguments.text.check_vectors(&vectors)?;
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
    let [first, second] = &documents;
    let amount = arguments.mass.map(Amount::Mass);
    let amount = amount.or(arguments.penalty.map(Amount::Penalty));
    let solved = match amount {
        None => wmd::transport(model.space(), first, second)
            .map(|plan| (plan.distance, plan.moves, None)),
        Some(amount) => wmd::partial_transport(model.space(), first, second, amount).map(|plan| {
            let partial = Partial {
                mass: plan.mass,
                unmatched: [plan.first_unmatched, plan.second_unmatched],
            };
            (plan.distance, plan.moves, Some(partial))
        }),
    };
    let (distance, moves, partial) = solved
        .map_err(|error| anyhow!(error))
        .context("cannot compare the texts")?;
    let unknown = unknown_words(texts.map(String::as_str), &model);
    Ok(Comparison {
        model,
        documents,
        distance,
        moves,
        partial,
        unknown,
    })
}

/// Refuses two texts that are both names of files: whoever gives them means the content,
/// and the distance between the names would look like an answer.
pub fn refuse_files(texts: [&str; 2]) -> Result<()> {
    // A word may be the name of a file by chance, but hardly with its suffix.
    let is_file = |text: &str| Path::new(text).extension().is_some() && Path::new(text).is_file();
    let [first, second] = texts;
    if is_file(first) && is_file(second) {
        return Err(usage_error(format!(
            "{first} and {second} are files; this command compares two texts"
        )));
    }
    Ok(())
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
        let is_known = |word: &str| vectors.id(word).is_some();
        tokenizer.for_each(text, is_known, |word| {
            if vectors.id(word).is_none() && !unknown.iter().any(|known| known == word) {
                unknown.push(word.to_owned());
            }
        });
    }
    unknown
}

impl Comparison {
    /// The words of both texts, by their positions in the plan.
    fn words(&self) -> [Vec<&str>; 2] {
        let [first, second] = &self.documents;
        [first, second].map(|document| {
            let words = document.words();
            words.map(|word| word.text(self.model.vectors())).collect()
        })
    }

    /// What the drawing shows.
    fn title(&self) -> String {
        match &self.partial {
            None => format!("Word Mover's Distance {:.4}", self.distance),
            Some(partial) => format!(
                "Word Mover's Distance {:.4}, {:.1} % of the mass moved",
                self.distance,
                100.0 * partial.mass
            ),
        }
    }

    /// The words of each text that do not move whole, and what stays of them.
    fn unmatched(&self) -> Option<[Vec<Unmatched<'_>>; 2]> {
        let [first, second] = self.words();
        let [of_first, of_second] = &self.partial.as_ref()?.unmatched;
        let pairs = [(first, of_first), (second, of_second)];
        Some(pairs.map(|(words, masses)| {
            let each = words.into_iter().zip(masses.iter().copied());
            let unmatched = each.filter(|(_, mass)| *mass > 0.0);
            unmatched
                .map(|(word, mass)| Unmatched { word, mass })
                .collect()
        }))
    }

    fn json(&self) -> Report<'_> {
        let [first, second] = self.words();
        let moves = self.moves.iter().map(|step| Move {
            from: first[step.from as usize],
            to: second[step.to as usize],
            mass: step.mass,
            cost: step.cost,
        });
        Report {
            distance: self.distance,
            mass: self.partial.as_ref().map(|partial| partial.mass),
            moves: moves.collect(),
            unmatched: self.unmatched(),
            unknown: &self.unknown,
        }
    }

    /// The plan, the moves that matter most first.
    fn table(&self) -> String {
        let [first, second] = self.words();
        let from_word = |step: &WordMove| first[step.from as usize];
        let to_word = |step: &WordMove| second[step.to as usize];
        let mut moves = self.moves.clone();
        moves.sort_by(|a, b| (b.mass * b.cost).total_cmp(&(a.mass * a.cost)));
        let width = |words: Vec<&str>| {
            words
                .iter()
                .map(|word| word.chars().count())
                .max()
                .unwrap_or(0)
        };
        let from = width(moves.iter().map(from_word).collect()).max(4);
        let to = width(moves.iter().map(to_word).collect()).max(2);

        let mut table = format!("distance {}\n", self.distance);
        if let Some(partial) = &self.partial {
            table += &format!("mass moved {}\n", partial.mass);
        }
        table.push('\n');
        table += &format!(
            "{:from$}    {:to$}    mass  distance  share of the whole\n",
            "from", "to"
        );
        for step in &moves {
            let share = match self.distance {
                0.0 => 0.0,
                distance => step.mass * step.cost / distance,
            };
            let bar = "#".repeat((share * 20.0).round() as usize);
            let (from_word, to_word) = (from_word(step), to_word(step));
            let line = format!(
                "{from_word:from$} -> {to_word:to$}  {:.4}  {:8.4}  {:5.1}% {bar}",
                step.mass,
                step.cost,
                100.0 * share
            );
            table += line.trim_end();
            table.push('\n');
        }
        for (unmatched, place) in self
            .unmatched()
            .into_iter()
            .flatten()
            .zip(["first", "second"])
        {
            let each = unmatched.iter();
            let each = each.map(|left| format!("{} {:.4}", left.word, left.mass));
            let each = each.collect::<Vec<_>>().join(", ");
            if !each.is_empty() {
                table += &format!("\nunmatched words of the {place} text: {each}\n");
            }
        }
        if !self.unknown.is_empty() {
            table += &format!("\nunknown: {}\n", self.unknown.join(" "));
        }
        table
    }
}
