//! What the word vectors do to accuracy.

use std::fmt::Write;

use anyhow::Result;

use crate::report::classification::{Over, quoted};
use crate::report::list_run;
use crate::vectors::{Change, Record, Variant};

/// A row for each change of each set of vectors, a column for each corpus.
pub fn section(out: &mut String, records: &[Record]) -> Result<()> {
    let definition = &records[0].definition;
    writeln!(
        out,
        "\n## {}\n\nAccuracy on test documents in per cent with {} features, by what the vectors \
         know of the corpus (share of its running words / of its distinct words); the sample \
         standard deviation is over random splits. Weighting and D_max are the same for all rows \
         of a corpus; C is chosen on training documents with {} features. The set that is best on \
         training documents held out is in bold.\n\nCommon words: those that all sets know, so \
         that coverage is equal. Random vectors: every word of the corpus that the set does not \
         know has a vector of its own that says nothing, so that coverage is whole. Components: \
         the best set of more than {} dimensions, projected on as many principal components of \
         its words, so that words and vectors are the same and the dimension is not.\n",
        definition.title,
        definition.n_features,
        definition.chosen_features,
        definition.n_dimensions
    )?;
    let names = records.iter().map(|record| record.corpus.name.as_str());
    writeln!(
        out,
        "| vectors | words | dimensions | {} |",
        names.collect::<Vec<_>>().join(" | ")
    )?;
    writeln!(out, "{}|", "| --- ".repeat(3 + records.len()))?;
    for change in [Change::None, Change::CommonWords, Change::RandomVectors] {
        for name in &definition.vectors {
            let cells = records.iter().map(|record| {
                let is_best = change == Change::None && *name == record.best;
                cell(record.find(change, Some(name)), is_best)
            });
            let dimension = records[0].find(change, Some(name));
            let dimension = dimension.map_or(0, |variant| variant.dimension);
            row(out, name, change, dimension, cells.collect())?;
        }
    }
    let cells = records.iter().map(|record| {
        let variant = record.find(Change::FewerDimensions, None);
        let name = variant.map_or("", |variant| variant.vectors.as_str());
        format!("{name}: {}", cell(variant, false))
    });
    let (change, dimension) = (Change::FewerDimensions, definition.n_dimensions);
    row(out, "components", change, dimension, cells.collect())?;
    let paper = records.iter().map(|record| {
        let paper = record.corpus.paper.as_ref();
        paper.map_or(String::new(), |paper| quoted(paper.wme_large))
    });
    let paper: Vec<String> = paper.collect();
    writeln!(
        out,
        "| paper, R up to 4096 | 3 million | 300 | {} |",
        paper.join(" | ")
    )?;
    writeln!(out)?;
    for record in records {
        list_run(
            out,
            &record.corpus.name,
            &record.environment,
            record.seconds,
        )?;
    }
    Ok(())
}

impl Record {
    fn find(&self, change: Change, vectors: Option<&String>) -> Option<&Variant> {
        self.variants.iter().find(|variant| {
            variant.change == change && vectors.is_none_or(|name| variant.vectors == *name)
        })
    }
}

fn row(
    out: &mut String,
    vectors: &str,
    change: Change,
    dimension: usize,
    cells: Vec<String>,
) -> Result<()> {
    let words = match change {
        Change::None | Change::FewerDimensions => "its own",
        Change::CommonWords => "common words",
        Change::RandomVectors => "random vectors for unknown words",
    };
    writeln!(
        out,
        "| {vectors} | {words} | {dimension} | {} |",
        cells.join(" | ")
    )?;
    Ok(())
}

fn cell(variant: Option<&Variant>, is_best: bool) -> String {
    let Some(variant) = variant else {
        return "–".to_owned();
    };
    let accuracy = Over::of(variant.splits.iter().map(|split| split.accuracy)).percent();
    let mark = if is_best { "**" } else { "" };
    format!(
        "{mark}{accuracy}{mark} ({:.0} / {:.0} %)",
        100.0 * variant.known,
        100.0 * variant.known_distinct
    )
}
