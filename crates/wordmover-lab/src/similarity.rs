//! The similarity experiment (table 4 of the paper, and table 9 task by task).

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use wordmover::space::UnknownWords;
use wordmover::text::{Case, Tokenizer};
use wordmover::{
    EmbeddingParams, Similarity, Weighting, WordVectors,
    document::{WordCounts, WordProbabilities},
    embedding::Components,
    similarity::{pearson, spearman},
    space::Normalization,
};

use crate::record::{Environment, Files};
use crate::say;

/// What is to be run. See `experiments/definitions/similarity.toml`.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Definition {
    pub name: String,
    pub title: String,
    seed: u64,
    /// Features of the column "WME raw".
    pub raw_n_features: usize,
    pub choose_n_features: usize,
    pub choose_pairs: usize,
    frequencies: String,
    pub vectors: Vec<Vectors>,
    candidate: Vec<Candidate>,
    pub group: Vec<Group>,
    pub task: Vec<Task>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Vectors {
    pub name: String,
    pub note: String,
    /// Without a file they are the built-in ones.
    pub file: Option<String>,
    case: Case,
    /// Features of the column "WME".
    pub n_features: usize,
    /// Whether parameters are chosen with these.
    #[serde(default)]
    pub chooses: bool,
}

/// Parameters of an embedding that may be chosen.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Candidate {
    pub weights: Weighting,
    pub normalize: Normalization,
    pub d_max: usize,
    pub components: Components,
}

/// Tasks whose mean is reported, and the files their parameters are chosen on.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Group {
    pub name: String,
    pub chosen_on: Vec<String>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Task {
    pub group: String,
    pub name: String,
    file: String,
    /// The paper's numbers, by system.
    pub paper: BTreeMap<String, f64>,
}

impl Task {
    /// The name of its file without the suffix.
    pub fn file(&self) -> &str {
        &self.file
    }
}

/// The columns we compute.
pub const COLUMNS: [&str; 6] = ["nbow", "tf-idf", "SIF", "WME", "WME default", "WME raw"];

/// What came out.
#[derive(Debug, Serialize, Deserialize)]
pub struct Record {
    pub environment: Environment,
    pub definition: Definition,
    /// SHA-256 of every file read.
    files: BTreeMap<String, String>,
    pub chosen: Vec<Chosen>,
    pub results: Vec<TaskResult>,
    pub seconds: f64,
}

/// Why a group has its parameters.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Chosen {
    pub group: String,
    pub candidate: Candidate,
    /// Mean Pearson correlation of every candidate over the files it was chosen on.
    pub means: Vec<f64>,
}

/// One task with one set of vectors: correlations times 100, by column.
#[derive(Debug, Serialize, Deserialize)]
pub struct TaskResult {
    pub vectors: String,
    pub group: String,
    pub task: String,
    pub pairs: usize,
    /// Share of the words that the vectors know.
    pub known: f64,
    pub pearson: BTreeMap<String, f64>,
    pub spearman: BTreeMap<String, f64>,
}

/// A file of pairs with people's scores.
pub struct Pairs {
    gold: Vec<f64>,
    texts: Vec<(String, String)>,
}

impl Pairs {
    pub fn read(files: &mut Files, folder: &Path, name: &str) -> Result<Self> {
        let name = format!("{name}.tsv");
        let text = String::from_utf8(files.read(folder, &name)?)
            .with_context(|| format!("{name} is not UTF-8"))?;
        Self::parse(&name, &text)
    }

    /// A score and two texts a line.
    fn parse(name: &str, text: &str) -> Result<Self> {
        let mut pairs = Pairs {
            gold: Vec::new(),
            texts: Vec::new(),
        };
        for (i, line) in text.lines().enumerate() {
            let fields: Vec<&str> = line.split('\t').collect();
            let [gold, first, second] = fields[..] else {
                bail!("{name}: line {}: not a score and two texts", i + 1);
            };
            let gold = match gold.parse::<f64>() {
                Ok(gold) if gold.is_finite() => gold,
                _ => bail!("{name}: line {}: {gold:?} is no score", i + 1),
            };
            pairs.gold.push(gold);
            pairs.texts.push((first.to_owned(), second.to_owned()));
        }
        Ok(pairs)
    }

    /// People's scores.
    pub fn gold(&self) -> &[f64] {
        &self.gold
    }

    pub fn texts(&self) -> &[(String, String)] {
        &self.texts
    }

    /// At most `n` pairs, evenly spread over the file: neighbouring lines of some files
    /// are about one thing.
    fn thin(&mut self, n: usize) {
        let len = self.gold.len();
        if n < len {
            let spread = || (0..n).map(|i| i * len / n);
            self.gold = spread().map(|i| self.gold[i]).collect();
            self.texts = spread().map(|i| self.texts[i].clone()).collect();
        }
    }

    fn score(
        &self,
        method: Similarity,
        params: &EmbeddingParams,
        language: &VectorSet,
    ) -> Result<(f64, f64)> {
        let (vectors, probabilities) = (&language.vectors, Some(&language.probabilities));
        let scores = method.of_pairs(&self.texts, params, vectors, probabilities)?;
        let percent = |value: Option<f64>| 100.0 * value.unwrap_or(0.0);
        Ok((
            percent(pearson(&scores, &self.gold)),
            percent(spearman(&scores, &self.gold)),
        ))
    }
}

/// Word vectors and the words' probabilities.
struct VectorSet {
    vectors: Arc<WordVectors>,
    probabilities: WordProbabilities,
    case: Case,
}

impl VectorSet {
    fn params(&self, params: EmbeddingParams) -> EmbeddingParams {
        let tokenizer = Tokenizer {
            case: self.case,
            ..params.documents.tokenizer.clone()
        };
        let mut params = params.tokenizer(tokenizer);
        if !self.vectors.has_subwords() {
            // As in the paper.
            params.documents.unknown = Some(UnknownWords::Skip);
        }
        params
    }
}

/// Runs everything.
pub fn run(
    definition: Definition,
    environment: Environment,
    data: &Path,
    vectors: &Path,
) -> Result<Record> {
    let start = Instant::now();
    let sts = data.join("sts");
    let mut files = Files::default();
    files.read(data, &definition.frequencies)?;
    let mut languages = Vec::new();
    for source in &definition.vectors {
        let table = Arc::new(match &source.file {
            Some(file) => {
                files.read(vectors, file)?;
                WordVectors::open(&vectors.join(file), None)?
            }
            None => WordVectors::builtin(),
        });
        let counts = data.join(&definition.frequencies);
        languages.push(VectorSet {
            probabilities: WordProbabilities::open(&counts, &table)?,
            vectors: table,
            case: source.case,
        });
    }
    let chooser = definition.vectors.iter().position(|v| v.chooses);
    let chooser = chooser.context("no vectors to choose with")?;
    let scores = try_candidates(&definition, &languages[chooser], &mut files, &sts)?;
    let chosen = choose(&definition, &scores)?;

    let mut results = Vec::new();
    for (source, language) in definition.vectors.iter().zip(&languages) {
        for task in &definition.task {
            let candidate = chosen.iter().find(|chosen| chosen.group == task.group);
            let candidate = candidate.context("a task of no group")?.candidate;
            let pairs = Pairs::read(&mut files, &sts, &task.file)?;
            let result = run_task(&definition, source, language, task, &pairs, candidate)?;
            say(&format!(
                "{} {} {}: {:.1?}",
                source.name, task.group, task.name, result.pearson
            ));
            results.push(result);
        }
    }
    Ok(Record {
        environment,
        definition,
        files: files.checksums,
        chosen,
        results,
        seconds: start.elapsed().as_secs_f64(),
    })
}

fn candidate_params(candidate: Candidate, n_features: usize, seed: u64) -> EmbeddingParams {
    EmbeddingParams::for_similarity()
        .n_features(n_features)
        .seed(seed)
        .weighting(candidate.weights)
        .normalization(candidate.normalize)
        .d_max(candidate.d_max)
        .components(candidate.components)
}

/// By file, the correlations of every candidate.
type Scores = BTreeMap<String, Vec<f64>>;

/// Tries every candidate on every file that some group may look at.
fn try_candidates(
    definition: &Definition,
    language: &VectorSet,
    files: &mut Files,
    sts: &Path,
) -> Result<Scores> {
    let mut scores = Scores::new();
    for name in definition.group.iter().flat_map(|group| &group.chosen_on) {
        if scores.contains_key(name) {
            continue;
        }
        let mut pairs = Pairs::read(files, sts, name)?;
        pairs.thin(definition.choose_pairs);
        let mut of_candidates = Vec::new();
        for &candidate in &definition.candidate {
            let n_features = definition.choose_n_features;
            let params = candidate_params(candidate, n_features, definition.seed);
            let params = language.params(params);
            of_candidates.push(pairs.score(Similarity::Wme, &params, language)?.0);
        }
        say(&format!("choosing on {name}: {of_candidates:.1?}"));
        scores.insert(name.clone(), of_candidates);
    }
    Ok(scores)
}

/// For every group the candidate with the greatest mean over the files the group may
/// look at, the first of equals.
fn choose(definition: &Definition, scores: &Scores) -> Result<Vec<Chosen>> {
    let groups = definition.group.iter().map(|group| {
        let files = group.chosen_on.iter().map(|file| &scores[file]);
        let files: Vec<&Vec<f64>> = files.collect();
        let mean = |i: usize| files.iter().map(|of| of[i]).sum::<f64>() / files.len() as f64;
        let means: Vec<f64> = (0..definition.candidate.len()).map(mean).collect();
        let best = (0..means.len()).rev();
        let best = best.max_by(|&a, &b| means[a].total_cmp(&means[b]));
        Ok(Chosen {
            group: group.name.clone(),
            candidate: definition.candidate[best.context("no candidates")?],
            means,
        })
    });
    groups.collect()
}

fn run_task(
    definition: &Definition,
    source: &Vectors,
    language: &VectorSet,
    task: &Task,
    pairs: &Pairs,
    candidate: Candidate,
) -> Result<TaskResult> {
    let chosen = candidate_params(candidate, source.n_features, definition.seed);
    let raw = EmbeddingParams::for_similarity()
        .n_features(definition.raw_n_features)
        .weighting(Weighting::Tfidf)
        .raw();
    let params = [chosen.clone(), chosen.clone(), chosen.clone(), chosen]
        .into_iter()
        .chain([EmbeddingParams::default(), raw]);
    let methods = [
        Similarity::Average,
        Similarity::Tfidf,
        Similarity::Sif,
        Similarity::Wme,
        Similarity::Wme,
        Similarity::Wme,
    ];
    let (mut pearson, mut spearman) = (BTreeMap::new(), BTreeMap::new());
    for ((column, method), params) in COLUMNS.into_iter().zip(methods).zip(params) {
        let (p, s) = pairs.score(method, &language.params(params), language)?;
        pearson.insert(column.to_owned(), p);
        spearman.insert(column.to_owned(), s);
    }
    let tokenizer = language
        .params(EmbeddingParams::for_similarity())
        .documents
        .tokenizer;
    let (mut known, mut words) = (0, 0);
    for text in pairs.texts.iter().flat_map(|(a, b)| [a, b]) {
        let counts = WordCounts::from_text(text, &tokenizer, &language.vectors);
        known += counts.n_known;
        words += counts.n_known + counts.n_unknown;
    }
    Ok(TaskResult {
        vectors: source.name.clone(),
        group: task.group.clone(),
        task: task.name.clone(),
        pairs: pairs.gold.len(),
        known: known as f64 / words.max(1) as f64,
        pearson,
        spearman,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_a_score_and_two_texts_a_line() {
        let pairs = Pairs::parse("p.tsv", "4.5\ta b\tc\n0\t\td\n").unwrap();
        assert_eq!(pairs.gold, [4.5, 0.0]);
        assert_eq!(pairs.texts[0], ("a b".to_owned(), "c".to_owned()));
        for (text, due) in [
            (
                "1\ta\tb\n2\ta\n",
                "p.tsv: line 2: not a score and two texts",
            ),
            ("1\ta\tb\tc\n", "p.tsv: line 1: not a score and two texts"),
            ("high\ta\tb\n", "p.tsv: line 1: \"high\" is no score"),
            ("1\ta\tb\nnan\ta\tb\n", "p.tsv: line 2: \"nan\" is no score"),
        ] {
            let said = Pairs::parse("p.tsv", text).err().map(|e| e.to_string());
            assert_eq!(said.as_deref(), Some(due));
        }
    }

    #[test]
    fn few_pairs_are_taken_from_all_over_the_file() {
        let text: String = (0..10).map(|i| format!("{i}\ta{i}\tb\n")).collect();
        let mut pairs = Pairs::parse("p.tsv", &text).unwrap();
        pairs.thin(100);
        assert_eq!(pairs.gold.len(), 10);
        pairs.thin(4);
        assert_eq!(pairs.gold, [0.0, 2.0, 5.0, 7.0]);
        let firsts: Vec<&str> = pairs
            .texts
            .iter()
            .map(|(first, _)| first.as_str())
            .collect();
        assert_eq!(firsts, ["a0", "a2", "a5", "a7"]);
    }

    fn definition() -> Definition {
        toml::from_str(
            r#"
            name = "similarity"
            title = "Similarity"
            seed = 0
            raw_n_features = 8
            choose_n_features = 8
            choose_pairs = 10
            frequencies = "counts.txt"
            vectors = []
            task = []
            candidate = [
                { weights = "sif", normalize = "unit", d_max = 1, components = { flatten = 2 } },
                { weights = "nbow", normalize = "none", d_max = 3, components = "keep" },
            ]
            group = [
                { name = "early", chosen_on = ["a"] },
                { name = "late", chosen_on = ["a", "b"] },
            ]
            "#,
        )
        .unwrap()
    }

    #[test]
    fn a_group_is_chosen_for_on_its_own_files_only() {
        let definition = definition();
        let scores = |a: [f64; 2], b: [f64; 2]| {
            Scores::from([("a".to_owned(), a.to_vec()), ("b".to_owned(), b.to_vec())])
        };
        let d_max = |scores: &Scores| {
            let chosen = choose(&definition, scores).unwrap();
            chosen.iter().map(|c| c.candidate.d_max).collect::<Vec<_>>()
        };
        // Whatever happens on file b is nothing to the group that may not look at it.
        assert_eq!(d_max(&scores([50.0, 40.0], [10.0, 90.0])), [1, 3]);
        assert_eq!(d_max(&scores([50.0, 40.0], [10.0, 15.0])), [1, 1]);
        // The first of equals.
        assert_eq!(d_max(&scores([50.0, 50.0], [10.0, 10.0])), [1, 1]);
        let chosen = choose(&definition, &scores([50.0, 40.0], [10.0, 90.0])).unwrap();
        assert_eq!(chosen[1].means, [30.0, 65.0]);
    }
}
