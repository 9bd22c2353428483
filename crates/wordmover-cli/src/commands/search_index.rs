//! `wordmover search` on an index that is kept.

use std::borrow::Cow;
use std::ops::ControlFlow;

use anyhow::{Result, bail};
use serde::Serialize;
use wordmover::index::{Hit, SearchBy, SearchIndex, SearchOptions};
use wordmover::neighbors::SearchStatistics;

use super::distance::{quoted, unknown_words};
use super::neighbor_table::{NeighborTable, Row};
use super::search::{AnswerId, DEFAULT_CANDIDATES, describe};
use crate::args::SearchArguments;
use crate::output::print;
use crate::progress::{self, Stages, count, say};
use crate::usage::usage_error;

pub fn run(arguments: &SearchArguments, queries: &[String], quiet: bool) -> Result<()> {
    if let Some(option) = arguments.given_with_index() {
        return Err(usage_error(format!(
            "{option} cannot be given with an index, which settles it"
        )));
    }
    let by = arguments.by.unwrap_or_default();
    if arguments.candidates.is_some() && by != SearchBy::Embedding {
        return Err(usage_error("--candidates needs --by embedding"));
    }
    let mut stages = Stages::default();
    let index = stages.time("opening", || SearchIndex::open(&arguments.documents, None))?;
    let model = index.model().documents();
    if let Some(query) = &arguments.query {
        if !index.has_words(query) && by != SearchBy::Hybrid {
            bail!(
                "{} has no Word Mover's Distance: it has no word that {} knows, apart from stop words",
                quoted(query),
                model.vectors().name()
            );
        }
        let unknown = unknown_words([query.as_str()], model);
        if !quiet && !unknown.is_empty() {
            say(&format!("unknown words: {}", unknown.join(" ")));
        }
    }
    let n_candidates = arguments.candidates.unwrap_or(DEFAULT_CANDIDATES);
    let options = SearchOptions::default()
        .k(arguments.k)
        .by(by)
        .n_candidates(n_candidates);
    let bar = progress::bar(
        quiet || queries.len() == 1,
        "searching",
        queries.len() as u64,
        "queries",
    );
    let mut statistics = SearchStatistics::default();
    let found = stages.time("searching", || {
        index.search_batch(queries, &options, &mut |done| {
            statistics += *done;
            bar.inc(done.queries);
            ControlFlow::Continue(())
        })
    })?;
    bar.finish_and_clear();
    print_answers(queries, &found, by, index.info().has_ids, arguments)?;
    if !quiet {
        let n_empty = found.iter().filter(|hits| hits.is_empty()).count();
        if n_empty > 0 {
            let queries = count(n_empty as u64, "query");
            say(&format!("{queries} without a known word: nothing found"));
        }
        if by != SearchBy::Hybrid {
            say(&describe(&statistics));
        }
        say(&stages.to_string());
    }
    Ok(())
}

/// What `--json` prints for a query, in this order.
#[derive(Serialize)]
struct Answer<'a> {
    query: &'a str,
    neighbors: Vec<AnswerHit<'a>>,
}

/// By distance, what a search in a corpus prints; by both, what the score is made of.
#[derive(Serialize)]
struct AnswerHit<'a> {
    id: AnswerId<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    distance: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    score: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parts: Option<Parts>,
    #[serde(skip_serializing_if = "Option::is_none")]
    words: Option<&'a [String]>,
    text: &'a str,
}

#[derive(Serialize)]
struct Parts {
    words: Option<f64>,
    cosine: Option<f64>,
    feedback: Option<f64>,
}

fn print_answers(
    queries: &[String],
    found: &[Vec<Hit>],
    by: SearchBy,
    has_ids: bool,
    arguments: &SearchArguments,
) -> Result<()> {
    let is_hybrid = by == SearchBy::Hybrid;
    let table = NeighborTable::for_terminal(if is_hybrid { "score" } else { "distance" });
    for (number, (query, hits)) in queries.iter().zip(found).enumerate() {
        let text = if arguments.json {
            let neighbors = hits.iter().map(|hit| AnswerHit {
                id: match (has_ids, hit.id.parse()) {
                    (false, Ok(number)) => AnswerId::Number(number),
                    _ => AnswerId::Given(&hit.id),
                },
                distance: hit.parts.distance,
                score: is_hybrid.then_some(hit.score),
                parts: is_hybrid.then_some(Parts {
                    words: hit.parts.words,
                    cosine: hit.parts.cosine,
                    feedback: hit.parts.feedback,
                }),
                words: is_hybrid.then_some(&hit.words),
                text: &hit.text,
            });
            let neighbors = neighbors.collect();
            serde_json::to_string(&Answer { query, neighbors })? + "\n"
        } else {
            let row = |hit: &'_ Hit| Row {
                value: if is_hybrid { hit.score } else { -hit.score },
                id: Cow::Owned(hit.id.clone()),
                text: Cow::Owned(hit.text.clone()),
            };
            let rows: Vec<Row> = hits.iter().map(row).collect();
            match arguments.queries.is_some() {
                true => table.titled(number, query, &rows),
                false => table.lines(&rows),
            }
        };
        print(&text)?;
    }
    Ok(())
}
