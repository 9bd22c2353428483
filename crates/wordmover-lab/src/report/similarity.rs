//! Textual similarity: every task beside the paper's numbers.

use std::fmt::Write;

use anyhow::Result;
use wordmover::Components;

use crate::report::{run_of, short};
use crate::similarity::{COLUMNS, Record, Task, TaskResult};

/// The paper's columns that can be compared with ours, and those only quoted.
const COMPARED: [&str; 4] = ["nbow", "tf-idf", "SIF", "WME"];
const QUOTED: [&str; 9] = [
    "PP",
    "DAN",
    "RNN",
    "iRNN",
    "LSTM(no)",
    "LSTM(o.g.)",
    "ST",
    "SIF (PSL)",
    "WME (PSL)",
];

/// The section on textual similarity.
pub fn section(out: &mut String, record: &Record) -> Result<()> {
    let (definition, environment) = (&record.definition, &record.environment);
    writeln!(out, "\n## {}\n", definition.title)?;
    writeln!(
        out,
        "Pearson's correlation with people's scores, times 100. Means are over the tasks we have: \
         SMT of STS'13 may not be redistributed, and the paper's means here leave it out too. \
         Every method is fitted on the sentences of its task, without their scores. \
         WME: SIF weights, {} features, D_max and components chosen for each year. \
         WME default: what `wordmover embed` gives without options (512 features, NBOW, stop words dropped). \
         WME raw: the paper's features, TF-IDF weights, {} features. \
         \"Known\" is the share of words the vectors hold.\n",
        definition.n_features, definition.n_features
    )?;
    writeln!(
        out,
        "{}, {:.0} s; definition sha256 {}.\n",
        run_of(environment),
        record.seconds,
        short(&environment.definition)
    )?;
    writeln!(
        out,
        "Chosen on training files or earlier years, with {} and {} features:\n",
        definition
            .vectors
            .iter()
            .find(|vectors| vectors.chooses)
            .map_or("", |vectors| vectors.name.as_str()),
        definition.choose_n_features
    )?;
    writeln!(
        out,
        "| tasks | D_max | components | chosen on |\n| --- | --- | --- | --- |"
    )?;
    for (chosen, group) in record.chosen.iter().zip(&definition.group) {
        let components = match chosen.candidate.components {
            Components::Flatten(n) => format!("first {n} flattened"),
            Components::Remove(n) => format!("first {n} removed"),
            _ => "kept".to_owned(),
        };
        let files = group.chosen_on.join(", ");
        let d_max = chosen.candidate.d_max;
        writeln!(
            out,
            "| {} | {d_max} | {components} | {files} |",
            chosen.group
        )?;
    }
    for vectors in &definition.vectors {
        let results: Vec<&TaskResult> = record
            .results
            .iter()
            .filter(|result| result.vectors == vectors.name)
            .collect();
        writeln!(out, "\n### {} ({})\n", vectors.name, vectors.note)?;
        let ours = COLUMNS.join(" | ");
        let papers: Vec<String> = COMPARED.iter().map(|c| format!("paper {c}")).collect();
        writeln!(out, "| task | known | {ours} | {} |", papers.join(" | "))?;
        writeln!(
            out,
            "{}",
            "| --- ".repeat(2 + COLUMNS.len() + COMPARED.len()) + "|"
        )?;
        for group in &definition.group {
            let of_group: Vec<(&TaskResult, &Task)> = results
                .iter()
                .copied()
                .zip(&definition.task)
                .filter(|(_, task)| task.group == group.name)
                .collect();
            if of_group.len() > 1 {
                for pair in &of_group {
                    row(
                        out,
                        &format!("{} {}", group.name, pair.1.name),
                        std::slice::from_ref(pair),
                    )?;
                }
            }
            row(out, &format!("**{}**", group.name), &of_group)?;
        }
    }
    writeln!(
        out,
        "\n### Quoted from the paper\n\nSupervised systems, Skip-Thought (ST), and systems with PSL vectors, none of them run by us; means over the tasks above.\n"
    )?;
    writeln!(out, "| tasks | {} |", QUOTED.join(" | "))?;
    writeln!(out, "{}", "| --- ".repeat(1 + QUOTED.len()) + "|")?;
    for group in &definition.group {
        let tasks: Vec<&Task> = definition
            .task
            .iter()
            .filter(|task| task.group == group.name)
            .collect();
        let cells = QUOTED.map(|system| {
            let values = tasks.iter().filter_map(|task| task.paper.get(system));
            format!("{:.1}", mean(values.copied()))
        });
        writeln!(out, "| {} | {} |", group.name, cells.join(" | "))?;
    }
    Ok(())
}

/// One line: the means over some tasks.
fn row(out: &mut String, name: &str, tasks: &[(&TaskResult, &Task)]) -> Result<()> {
    let known = 100.0 * mean(tasks.iter().map(|(result, _)| result.known));
    write!(out, "| {name} | {known:.0} % |")?;
    for column in COLUMNS {
        let values = tasks
            .iter()
            .filter_map(|(result, _)| result.pearson.get(column));
        write!(out, " {:.1} |", mean(values.copied()))?;
    }
    for column in COMPARED {
        let values = tasks.iter().filter_map(|(_, task)| task.paper.get(column));
        write!(out, " {:.1} |", mean(values.copied()))?;
    }
    writeln!(out)?;
    Ok(())
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let values: Vec<f64> = values.collect();
    values.iter().sum::<f64>() / values.len() as f64
}
