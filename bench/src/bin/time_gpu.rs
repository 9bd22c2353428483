//! Distances of a corpus on the GPU and on the CPU: seconds, and whether they agree.
//!
//! Reads lines of `split<TAB>label<TAB>text`, gzipped. Fits random documents as the program
//! does (`--min-count 5`), then computes all distances on the GPU, several times, and on all
//! cores. Times are from bags in memory to distances in memory.
//!
//! ```sh
//! cargo run --release -p wordmover-bench --bin time_gpu -- 20news.tsv.gz --features 4096
//! ```
//!
//! Lines of output are a name, a tab and values, for `bench/run gpu`: the machine with the GPU
//! may have neither this repository nor Python.
//!
//! `--sweep` measures the growth with documents, random documents, words a document and words
//! a random document instead. `--no-cpu` leaves the CPU out.

#![expect(clippy::print_stdout, reason = "this is a program")]

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use flate2::read::MultiGzDecoder;
use wordmover::{
    Document, EmbeddingParams, Weighting, WordMoversEmbedding, WordVectors,
    document::{Word, WordCounts},
    embedding::Gamma,
    random_documents::RandomWords,
};
use wordmover_cuda::{Bags, Device, RandomDocuments};

const USAGE: &str = "usage: time_gpu FILE [--vectors FILE] [--features R] [--d-max D] [--repeat N] \
                     [--weighting tfidf] [--random-words vocabulary] [--documents N] [--no-cpu] [--sweep]";

type Error = Box<dyn std::error::Error>;

struct Options {
    path: String,
    vectors: Option<String>,
    n_features: usize,
    d_max: usize,
    repeat: usize,
    weighting: Weighting,
    random_words: RandomWords,
    n_documents: usize,
    has_cpu: bool,
    is_sweep: bool,
}

fn options() -> Result<Options, Error> {
    let mut arguments = std::env::args().skip(1);
    let mut options = Options {
        path: arguments.next().ok_or(USAGE)?,
        vectors: None,
        n_features: 4096,
        d_max: 6,
        repeat: 5,
        weighting: Weighting::Nbow,
        random_words: RandomWords::default(),
        n_documents: usize::MAX,
        has_cpu: true,
        is_sweep: false,
    };
    while let Some(option) = arguments.next() {
        let mut value = || arguments.next().ok_or(USAGE);
        match option.as_str() {
            "--vectors" => options.vectors = Some(value()?),
            "--features" => options.n_features = value()?.parse()?,
            "--d-max" => options.d_max = value()?.parse()?,
            "--repeat" => options.repeat = value()?.parse()?,
            "--documents" => options.n_documents = value()?.parse()?,
            "--weighting" if value()? == "tfidf" => options.weighting = Weighting::Tfidf,
            "--random-words" if value()? == "vocabulary" => {
                options.random_words = RandomWords::Vocabulary;
            }
            "--no-cpu" => options.has_cpu = false,
            "--sweep" => options.is_sweep = true,
            _ => return Err(USAGE.into()),
        }
    }
    Ok(options)
}

/// A corpus as the crate takes it, and as the library does.
struct Problem {
    model: WordMoversEmbedding,
    documents: Vec<Document>,
    vectors: Vec<f32>,
    starts: Vec<usize>,
    words: Vec<u32>,
    weights: Vec<f64>,
    random_starts: Vec<usize>,
    random_words: Vec<f32>,
}

impl Problem {
    fn new(model: WordMoversEmbedding, documents: Vec<Document>) -> Result<Self, Error> {
        // Words are numbered by their first occurrence: a table of those that are there.
        let mut rows = HashMap::new();
        let mut table: Vec<Word> = Vec::new();
        let (mut starts, mut words, mut weights) = (vec![0], Vec::new(), Vec::new());
        for document in &documents {
            for word in document.words() {
                let row = rows.entry(word).or_insert_with(|| {
                    table.push(word);
                    table.len() as u32 - 1
                });
                words.push(*row);
            }
            weights.extend_from_slice(document.weights());
            starts.push(words.len());
        }
        let vectors = model.space().gather(table.into_iter())?;
        let random = model.random_documents();
        let mut random_starts = vec![0];
        let mut random_words = Vec::new();
        for j in 0..random.len() {
            random_words.extend_from_slice(random.words(j));
            random_starts.push(random_starts[j] + random.document_len(j));
        }
        Ok(Problem {
            model,
            documents,
            vectors,
            starts,
            words,
            weights,
            random_starts,
            random_words,
        })
    }

    fn on_gpu(
        &self,
        device: &Device,
        out: &mut [f32],
    ) -> Result<wordmover_cuda::Statistics, Error> {
        let bags = Bags {
            starts: &self.starts,
            words: &self.words,
            weights: &self.weights,
        };
        let random = RandomDocuments {
            starts: &self.random_starts,
            vectors: &self.random_words,
        };
        Ok(device.distances(&self.vectors, self.model.space().dim(), bags, random, out)?)
    }

    fn on_cpu(&self, out: &mut [f32]) -> Result<(), Error> {
        let never = &mut |_: &_| ControlFlow::Continue(());
        let all = 0..self.model.n_features();
        Ok(self
            .model
            .distances_into(&self.documents, all, out, never)?)
    }

    /// Seconds of each run on the GPU and of one on the CPU; says how they agree.
    fn measure(&self, device: &Device, repeat: usize, has_cpu: bool) -> Result<Measured, Error> {
        let mut found = vec![f32::NAN; self.documents.len() * self.model.n_features()];
        let mut seconds = Vec::new();
        let mut statistics = Default::default();
        for _ in 0..repeat {
            let clock = Instant::now();
            statistics = self.on_gpu(device, &mut found)?;
            seconds.push(clock.elapsed().as_secs_f64());
        }
        let mut measured = Measured {
            gpu: seconds,
            cpu: f64::NAN,
            n_other: 0,
            largest: 0.0,
            statistics,
        };
        if has_cpu {
            let mut expected = vec![0f32; found.len()];
            let clock = Instant::now();
            self.on_cpu(&mut expected)?;
            measured.cpu = clock.elapsed().as_secs_f64();
            for (found, expected) in found.iter().zip(&expected) {
                if found.to_bits() != expected.to_bits() {
                    measured.n_other += 1;
                    let difference = f64::from((found - expected).abs() / expected);
                    // Not a number is as far off as can be.
                    if difference.is_nan() || difference > measured.largest {
                        measured.largest = if difference.is_nan() {
                            f64::INFINITY
                        } else {
                            difference
                        };
                    }
                }
            }
        }
        Ok(measured)
    }
}

struct Measured {
    gpu: Vec<f64>,
    cpu: f64,
    /// Distances with other bits, and the largest relative difference.
    n_other: usize,
    largest: f64,
    statistics: wordmover_cuda::Statistics,
}

impl Measured {
    fn median(&self) -> f64 {
        let mut warm = self.gpu[usize::from(self.gpu.len() > 1)..].to_vec();
        warm.sort_by(f64::total_cmp);
        warm[warm.len() / 2]
    }
}

fn model(
    options: &Options,
    vectors: &Arc<WordVectors>,
    texts: &[String],
    n_features: usize,
    d_max: usize,
) -> Result<(WordMoversEmbedding, Vec<WordCounts>), Error> {
    let mut params = EmbeddingParams::default()
        .raw()
        .gamma(Gamma::None)
        .n_features(n_features)
        .d_max(d_max)
        .random_words(options.random_words)
        .weighting(options.weighting);
    params.documents.bag.min_count = 5;
    let model = WordMoversEmbedding::fit(params, vectors.clone(), texts)?;
    let counts = texts.iter().map(|text| model.word_counts(text)).collect();
    Ok((model, counts))
}

fn main() -> Result<(), Error> {
    let options = options()?;
    let device = Device::open(0)?;
    println!("GPU\t{}", device.name()?);
    println!(
        "CPU\t{}, {} threads",
        cpu(),
        std::thread::available_parallelism()?
    );
    println!(
        "arguments\t{}",
        std::env::args().skip(2).collect::<Vec<_>>().join(" ")
    );
    let vectors = Arc::new(match &options.vectors {
        Some(path) => WordVectors::open(Path::new(path), None)?,
        None => WordVectors::builtin(),
    });
    let lines = BufReader::new(MultiGzDecoder::new(File::open(&options.path)?)).lines();
    let mut texts = Vec::new();
    for line in lines.take(options.n_documents) {
        texts.push(line?.splitn(3, '\t').nth(2).unwrap_or("").to_owned());
    }
    if options.is_sweep {
        return sweep(&options, &device, &vectors, &texts);
    }
    let (model, counts) = model(
        &options,
        &vectors,
        &texts,
        options.n_features,
        options.d_max,
    )?;
    let documents: Vec<Document> = counts.iter().map(|counts| model.document(counts)).collect();
    let problem = Problem::new(model, documents)?;
    println!(
        "problem\t{} documents, {:.1} words each, at most {}; {} distinct words of {} dimensions; {} random documents, {} words",
        problem.documents.len(),
        problem.words.len() as f64 / problem.documents.len() as f64,
        problem
            .documents
            .iter()
            .map(Document::len)
            .max()
            .unwrap_or(0),
        problem.vectors.len() / problem.model.space().dim(),
        problem.model.space().dim(),
        problem.random_starts.len() - 1,
        problem.random_starts[problem.random_starts.len() - 1],
    );
    let measured = problem.measure(&device, options.repeat, options.has_cpu)?;
    println!(
        "measured\t{:.4}\t{:.4}\t{:.3}\t{}\t{}\t{:.2e}\t{}\t{}",
        measured.gpu[0],
        measured.median(),
        measured.cpu,
        measured.statistics.distances,
        measured.n_other,
        measured.largest,
        measured.statistics.on_host,
        measured.statistics.compared,
    );
    match measured.largest > 1e-6 {
        true => Err("distances differ by more than 1e-6".into()),
        false => Ok(()),
    }
}

/// The processor, where the system tells.
fn cpu() -> String {
    let about = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = about.lines().find(|line| line.starts_with("model name"));
    let model = model.and_then(|line| line.split_once(": "));
    model.map_or("unknown", |(_, name)| name).to_owned()
}

/// Growth with everything, one at a time.
fn sweep(
    options: &Options,
    device: &Device,
    vectors: &Arc<WordVectors>,
    texts: &[String],
) -> Result<(), Error> {
    const R: usize = 4096;
    let say = |varied: &str, value: usize, problem: &Problem, has_cpu: bool| -> Result<(), Error> {
        let measured = problem.measure(device, options.repeat, has_cpu && options.has_cpu)?;
        println!(
            "growth\t{varied}\t{value}\t{:.5}\t{:.3}\t{}\t{:.1e}",
            measured.median(),
            measured.cpu,
            measured.n_other,
            measured.largest
        );
        Ok(())
    };
    // Words of the corpus in a row, cut to equal lengths.
    let (_, counts) = model(options, vectors, texts, 16, 6)?;
    let stream: Vec<u32> = counts
        .iter()
        .flat_map(|c| c.words.iter().map(|w| w.0))
        .collect();
    let fixed = |length: usize, n: usize| -> Result<Vec<Document>, Error> {
        let mut documents = Vec::new();
        let mut next = stream.iter().cycle();
        while documents.len() < n {
            let mut words: Vec<u32> = Vec::new();
            while words.len() < length {
                let word = *next.next().ok_or("no words")?;
                if !words.contains(&word) {
                    words.push(word);
                }
            }
            let weight = 1.0 / length as f64;
            documents.push(Document::from_weights(
                words.into_iter().map(|w| (w, weight)),
            )?);
        }
        Ok(documents)
    };
    let documents = |model: &WordMoversEmbedding, n: usize| -> Vec<Document> {
        counts[..n.min(counts.len())]
            .iter()
            .map(|c| model.document(c))
            .collect()
    };
    for n in [1, 16, 256, 1024, 4096, 18846] {
        let (model, _) = model(options, vectors, texts, R, 6)?;
        let documents = documents(&model, n);
        say(
            "N",
            documents.len(),
            &Problem::new(model, documents)?,
            n <= 1024,
        )?;
    }
    for r in [16, 256, 1024, 4096, 16384] {
        let (model, _) = model(options, vectors, texts, r, 6)?;
        let documents = documents(&model, 4096);
        say("R", r, &Problem::new(model, documents)?, r <= 256)?;
    }
    for d_max in [1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 15, 18, 21] {
        let (model, _) = model(options, vectors, texts, 1024, d_max)?;
        let documents = documents(&model, 4096);
        say("D_max", d_max, &Problem::new(model, documents)?, true)?;
    }
    for length in [1, 2, 5, 10, 20, 40, 72, 120, 200, 350, 500, 1000] {
        let (model, _) = model(options, vectors, texts, 1024, 6)?;
        let n = (1 << 17) / length;
        say(
            "L (documents of 131,072 words in all)",
            length,
            &Problem::new(model, fixed(length, n)?)?,
            true,
        )?;
    }
    Ok(())
}
