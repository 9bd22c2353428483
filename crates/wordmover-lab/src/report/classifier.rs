//! `wordmover train` on the corpora: with its defaults, with other vectors, more features, and
//! without words beside the embedding.

use std::fmt::Write;

use anyhow::Result;

use crate::classifier::Record;
use crate::report::runs_of;

/// The classifier with its defaults, beside the paper's WME.
pub fn defaults(out: &mut String, records: &[Record]) -> Result<()> {
    let definition = &records[0].definition;
    writeln!(
        out,
        "\n## {}\n\n`wordmover train` with the built-in vectors and R = {}: embedding, word \
         weights, C and views are chosen on training documents. In brackets: on training \
         documents held out.\n",
        definition.title, definition.n_features
    )?;
    let columns = [
        "corpus",
        "paper's WME",
        "accuracy",
        "views",
        "training, s",
        "prediction, s",
    ];
    writeln!(out, "| {} |", columns.join(" | "))?;
    writeln!(out, "{}|", "| --- ".repeat(columns.len()))?;
    for record in records {
        let splits = &record.splits;
        let mean = |of: &dyn Fn(&crate::classifier::OfSplit) -> f64| {
            splits.iter().map(of).sum::<f64>() / splits.len().max(1) as f64
        };
        let mut views: Vec<String> = splits.iter().map(|s| s.choice.views.to_string()).collect();
        views.sort_unstable();
        views.dedup();
        writeln!(
            out,
            "| {} | {} | {:.1} ({:.1}) | {} | {:.0} | {:.1} |",
            record.corpus.name,
            of_paper(record),
            100.0 * mean(&|split| split.accuracy),
            100.0 * mean(&|split| split.choice.accuracy),
            views.join(", "),
            mean(&|split| split.training_seconds),
            mean(&|split| split.prediction_seconds)
        )?;
    }
    writeln!(
        out,
        "\n{}.",
        runs_of(records.iter().map(|r| &r.environment))
    )?;
    Ok(())
}

/// What the paper's WME has with 4,096 features at most.
fn of_paper(record: &Record) -> String {
    let paper = record.corpus.paper.as_ref();
    paper.map_or("–".to_owned(), |paper| {
        format!("{:.1}", paper.wme_large[0])
    })
}

/// The same with other vectors.
pub fn other_vectors(out: &mut String, defaults: &[Record], others: &[Record]) -> Result<()> {
    let definition = &others[0].definition;
    let name = definition.vectors.as_deref().unwrap_or("built-in");
    writeln!(
        out,
        "\n### {}\n\nThe same command and R = {} with the vectors {name}.\n\n\
         | corpus | built-in | {name} | difference |\n| --- | --- | --- | --- |",
        definition.title, definition.n_features
    )?;
    let mut differences = Vec::new();
    for other in others {
        let same = |record: &&Record| record.corpus.name == other.corpus.name;
        let Some(default) = defaults.iter().find(same) else {
            continue;
        };
        let (built_in, named) = (100.0 * default.accuracy(), 100.0 * other.accuracy());
        differences.push(built_in - named);
        let difference = built_in - named;
        writeln!(
            out,
            "| {} | {built_in:.1} | {named:.1} | {difference:+.1} |",
            other.corpus.name
        )?;
    }
    let mean = differences.iter().sum::<f64>() / differences.len().max(1) as f64;
    writeln!(out, "| mean | | | {mean:+.2} |")?;
    writeln!(out, "\n{}.", runs_of(others.iter().map(|r| &r.environment)))?;
    Ok(())
}

/// The same with more features.
pub fn more_features(out: &mut String, defaults: &[Record], others: &[Record]) -> Result<()> {
    writeln!(
        out,
        "\n### {}\n\nThe same command by R: accuracy and seconds of training.\n\n\
         | corpus | R | splits | accuracy | paper's WME | training, s |\n\
         | --- | --- | --- | --- | --- | --- |",
        others[0].definition.title
    )?;
    let mut names: Vec<&str> = others.iter().map(|r| r.corpus.name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    for name in names {
        let mut of_corpus: Vec<_> = defaults.iter().chain(others).collect();
        of_corpus.retain(|record| record.corpus.name == name);
        of_corpus.sort_by_key(|record| record.definition.n_features);
        for record in of_corpus {
            let seconds: f64 = record.splits.iter().map(|s| s.training_seconds).sum();
            writeln!(
                out,
                "| {name} | {} | {} | {:.1} | {} | {:.0} |",
                record.definition.n_features,
                record.splits.len(),
                100.0 * record.accuracy(),
                of_paper(record),
                seconds / record.splits.len().max(1) as f64
            )?;
        }
    }
    writeln!(out, "\n{}.", runs_of(others.iter().map(|r| &r.environment)))?;
    Ok(())
}

/// The classifier without words, with several sets of vectors.
pub fn meanings(out: &mut String, records: &[Record]) -> Result<()> {
    let definition = &records[0].definition;
    let name = |record: &Record| {
        let named = record.definition.vectors.as_deref();
        named.unwrap_or("built-in").to_owned()
    };
    let (mut sets, mut corpora): (Vec<String>, Vec<&str>) = (Vec::new(), Vec::new());
    for record in records {
        if !sets.contains(&name(record)) {
            sets.push(name(record));
        }
        if !corpora.contains(&record.corpus.name.as_str()) {
            corpora.push(&record.corpus.name);
        }
    }
    writeln!(
        out,
        "\n## {}\n\n`wordmover train --views meanings` with R = {}: accuracy on test documents, and \
         in brackets on training documents held out, which choose the vectors (in bold). Below the \
         paper's: by how much the chosen miss it. Where sets have different numbers of splits, \
         these are given in their order.\n\n| corpus | splits | {} | paper, R up to 4096 | below it |",
        definition.title,
        definition.n_features,
        sets.join(" | ")
    )?;
    writeln!(out, "{}|", "| --- ".repeat(4 + sets.len()))?;
    for corpus in corpora {
        let of_corpus = records.iter().filter(|it| it.corpus.name == corpus);
        let chosen = of_corpus
            .clone()
            .max_by(|a, b| a.held_out().total_cmp(&b.held_out()));
        let Some(chosen) = chosen else { continue };
        let cells = sets.iter().map(|set| {
            let found = of_corpus.clone().find(|record| name(record) == *set);
            found.map_or("–".to_owned(), |record| {
                let mark = if name(record) == name(chosen) {
                    "**"
                } else {
                    ""
                };
                let (ours, held_out) = (100.0 * record.accuracy(), 100.0 * record.held_out());
                format!("{mark}{ours:.2}{mark} ({held_out:.2})")
            })
        });
        let cells: Vec<String> = cells.collect();
        let mut splits: Vec<usize> = sets
            .iter()
            .filter_map(|set| of_corpus.clone().find(|record| name(record) == *set))
            .map(|record| record.splits.len())
            .collect();
        if splits.iter().all(|&n| n == splits[0]) {
            splits.truncate(1);
        }
        let splits: Vec<String> = splits.iter().map(usize::to_string).collect();
        let paper = chosen.corpus.paper.as_ref().map(|paper| paper.wme_large[0]);
        let below = paper.map(|paper| paper - 100.0 * chosen.accuracy());
        writeln!(
            out,
            "| {corpus} | {} | {} | {} | {} |",
            splits.join(", "),
            cells.join(" | "),
            of_paper(chosen),
            match below {
                Some(below) if below > 0.0 => format!("{below:.2}"),
                Some(_) => "no".to_owned(),
                None => "–".to_owned(),
            }
        )?;
    }
    writeln!(
        out,
        "\n{}.",
        runs_of(records.iter().map(|r| &r.environment))
    )?;
    Ok(())
}
