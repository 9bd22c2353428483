//! The embedding against the exact kernel, and its promises of determinism.

mod toy;

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use wordmover::{
    Document, EmbeddingParams, Error, ModelFile, Weighting, WordMoversEmbedding, WordVectors,
    accelerator::{Accelerator, DistanceBatch},
    document::WordProbabilities,
    embedding::{Components, EmbeddingStatistics, Fitter, Gamma, PostProcessing, kernel},
    random_documents::RandomWords,
    similarity::cosine,
    space::Normalization,
    transport::Workspace,
    wmd,
};

fn fitted(params: EmbeddingParams) -> WordMoversEmbedding {
    WordMoversEmbedding::fit(params, toy::vectors(), &toy::TEXTS).unwrap()
}

fn pairs(document: &Document) -> Vec<(usize, f64)> {
    let words = document.known().iter().map(|&word| word as usize);
    words.zip(document.weights().iter().copied()).collect()
}

/// Root mean square error of the kernel estimates, over pairs of texts and seeds.
fn kernel_error(n_features: usize, n_seeds: u64) -> f64 {
    let gamma = 0.7;
    let texts = ["a b c", "a a d", "e d b", "c", "e e a"];
    let (mut sum, mut n) = (0.0, 0.0);
    for seed in 0..n_seeds {
        let params = toy::params()
            .n_features(n_features)
            .gamma(Gamma::Value(gamma))
            .seed(seed);
        let model = fitted(params);
        let documents = texts.map(|text| model.document(&model.word_counts(text)));
        let z = model.embed(&documents).unwrap();
        let rows: Vec<&[f32]> = z.chunks_exact(n_features).collect();
        for (i, x) in documents.iter().enumerate() {
            for (j, y) in documents.iter().enumerate().take(i + 1) {
                let exact = toy::exact_kernel(gamma, &pairs(x), &pairs(y));
                sum += (kernel(rows[i], rows[j]) - exact).powi(2);
                n += 1.0;
            }
        }
    }
    f64::sqrt(sum / n)
}

#[test]
fn the_kernel_error_falls_as_one_over_the_root_of_the_number_of_features() {
    let sizes = [16usize, 64, 256, 1024];
    let points = sizes.map(|n| ((n as f64).ln(), kernel_error(n, 40).ln()));
    let mean = |f: fn(&(f64, f64)) -> f64| points.iter().map(f).sum::<f64>() / points.len() as f64;
    let (mx, my) = (mean(|p| p.0), mean(|p| p.1));
    let slope = points.iter().map(|(x, y)| (x - mx) * (y - my)).sum::<f64>()
        / points.iter().map(|(x, _)| (x - mx).powi(2)).sum::<f64>();
    assert!((-0.6..-0.4).contains(&slope), "slope {slope}");
    // Were the estimate biased, it would not go on falling.
    assert!(kernel_error(1024, 40) < 0.006);
}

#[test]
fn features_are_exponentials_of_the_distances() {
    let model = fitted(toy::params().n_features(20).gamma(Gamma::Value(2.0)));
    let raw = fitted(toy::params().n_features(20).gamma(Gamma::None));
    let distances = raw.transform(&toy::TEXTS).unwrap();
    let features = model.transform(&toy::TEXTS).unwrap();
    let documents = toy::TEXTS.map(|text| model.document(&model.word_counts(text)));
    let exact = model.distances(&documents).unwrap();
    for ((z, d), exact) in features.iter().zip(distances).zip(exact) {
        // Ground costs for features are in single precision too.
        assert!((f64::from(d) - exact).abs() <= 2e-7 * exact);
        assert!((f64::from(*z) - (-2.0 * exact).exp() / 20f64.sqrt()).abs() < 1e-8);
    }
}

#[test]
fn kept_distances_make_the_features_of_any_gamma() {
    let texts = ["a b c", "", "e d b"];
    let first = fitted(toy::params().n_features(20).gamma(Gamma::Value(2.0)));
    let documents = texts.map(|text| first.document(&first.word_counts(text)));
    let mut kept = vec![0.0; 3 * 20];
    let mut n_done = 0;
    let mut count = |done: &wordmover::embedding::EmbeddingStatistics| {
        n_done += done.distances;
        ControlFlow::Continue(())
    };
    first
        .distances_into(&documents, 0..20, &mut kept, &mut count)
        .unwrap();
    assert_eq!(n_done, 60);
    for gamma in [Gamma::Value(2.0), Gamma::Value(0.3), Gamma::None] {
        let model = fitted(toy::params().n_features(20).gamma(gamma));
        assert_eq!(
            model.features_of(&kept).unwrap(),
            model.embed(&documents).unwrap(),
            "{gamma:?}"
        );
    }
}

#[test]
fn the_distances_of_one_fit_serve_every_gamma() {
    let texts = many_texts();
    let fitter = |params: EmbeddingParams| {
        let mut fitter = Fitter::new(params.check().unwrap(), toy::vectors());
        for text in &texts {
            let counts = fitter.word_counts(text);
            fitter.observe(&counts);
        }
        fitter
    };
    let never = &mut |_: &EmbeddingStatistics| ControlFlow::Continue(());
    for post_processing in [
        PostProcessing::Raw,
        PostProcessing::Center,
        PostProcessing::Standardize,
        PostProcessing::Unit,
    ] {
        for weighting in [Weighting::Tfidf, Weighting::Sif] {
            let params = toy::params()
                .n_features(24)
                .post_processing(post_processing)
                .weighting(weighting);
            let key = fitter(params.clone()).key();
            let drawn = fitter(params.clone()).draw(never).unwrap();
            for gamma in [Gamma::Auto, Gamma::None, Gamma::Value(0.3)] {
                let params = params.clone().gamma(gamma);
                assert_eq!(fitter(params.clone()).key(), key);
                let fresh = fitter(params).finish().unwrap();
                let scaled = drawn.scale(gamma).unwrap();
                assert_eq!(scaled.gamma(), fresh.gamma());
                assert_eq!(
                    scaled.to_bytes(false).unwrap(),
                    fresh.to_bytes(false).unwrap()
                );
            }
        }
    }
    // Anything else than gamma makes another embedding, with another key.
    let params = toy::params().n_features(24);
    let key = fitter(params.clone()).key();
    let mut others = vec![
        fitter(params.clone().seed(1)),
        fitter(params.clone().n_features(25)),
        fitter(params.clone().post_processing(PostProcessing::Center)),
        fitter(params.clone().weighting(Weighting::Sif)),
        fitter(params.clone()).word_probabilities(Some(WordProbabilities::from_counts(
            "own",
            &toy::vectors(),
            [("a", 3)],
        ))),
    ];
    let mut more = fitter(params);
    let counts = more.word_counts("a");
    more.observe(&counts);
    others.push(more);
    for other in others {
        assert_ne!(other.key(), key);
    }
    // They can be broken off.
    let params = toy::params()
        .n_features(24)
        .post_processing(PostProcessing::Center)
        .check()
        .unwrap();
    let mut interrupted = Fitter::new(params, toy::vectors());
    let counts = interrupted.word_counts("a b");
    interrupted.observe(&counts);
    let stopped = interrupted.draw(&mut |_| ControlFlow::Break(()));
    assert!(matches!(stopped, Err(Error::Interrupted)));
}

#[test]
fn distances_are_word_movers_distances() {
    // Random documents made of words of the vocabulary are documents too.
    let model = fitted(
        toy::params()
            .n_features(50)
            .d_max(4)
            .weighting(Weighting::Tfidf),
    );
    let documents = toy::TEXTS.map(|text| model.document(&model.word_counts(text)));
    let distances = model.distances(&documents).unwrap();
    let random = model.random_documents();
    for (i, document) in documents.iter().enumerate() {
        for j in 0..random.len() {
            let n = random.document_len(j);
            let words = random.words(j).chunks_exact(2).map(|vector| {
                let word = toy::WORDS.iter().position(|(_, v)| v == vector).unwrap();
                (word as u32, 1.0 / n as f64)
            });
            let omega = Document::from_weights(words).unwrap();
            let plan = wmd::transport(model.space(), document, &omega).unwrap();
            assert!((plan.distance - distances[i * 50 + j]).abs() < 1e-12);
        }
    }
}

#[test]
fn distances_to_some_random_documents_are_columns_of_all() {
    let model = fitted(toy::params().n_features(40).gamma(Gamma::None).raw());
    let texts = [toy::TEXTS[0], "x", toy::TEXTS[1]];
    let documents = texts.map(|text| model.document(&model.word_counts(text)));
    let all = model.transform(&texts).unwrap();
    let mut some = vec![0.0; 3 * 13];
    model
        .distances_into(&documents, 17..30, &mut some, &mut |_| {
            ControlFlow::Continue(())
        })
        .unwrap();
    for i in [0, 2] {
        assert_eq!(some[i * 13..][..13], all[i * 40..][17..30]);
    }
    assert!(some[13..26].iter().all(|d| *d == f32::INFINITY));
}

#[test]
fn fewer_features_are_the_first_of_more() {
    for random_words in [
        RandomWords::Uniform,
        RandomWords::UniformCentered,
        RandomWords::Gaussian,
        RandomWords::Vocabulary,
    ] {
        let params = || toy::params().random_words(random_words).seed(9);
        let few = fitted(params().n_features(5));
        let many = fitted(params().n_features(40));
        for j in 0..5 {
            assert_eq!(
                few.random_documents().words(j),
                many.random_documents().words(j)
            );
        }
        assert_eq!(few.gamma(), many.gamma());
        let other = fitted(params().n_features(5).seed(10));
        assert_ne!(few.random_documents(), other.random_documents());
    }
}

#[test]
fn random_words_have_unit_length_where_words_have() {
    let unit = fitted(
        toy::params()
            .random_words(RandomWords::Uniform)
            .normalization(Normalization::Unit),
    );
    for j in 0..unit.n_features() {
        for word in unit.random_documents().words(j).chunks_exact(2) {
            assert!((word[0].hypot(word[1]) - 1.0).abs() < 1e-6);
        }
    }
    let plain = fitted(toy::params().random_words(RandomWords::Uniform));
    let all: Vec<f32> = (0..512)
        .flat_map(|j| plain.random_documents().words(j).to_vec())
        .collect();
    assert!(
        all.iter().all(|x| (-1.0..1.5).contains(x)),
        "between the extreme coordinates"
    );
    assert!(all.iter().any(|x| *x < -0.9) && all.iter().any(|x| *x > 1.4));
}

#[test]
fn random_documents_can_be_parts_of_documents() {
    let params = toy::params().random_words(RandomWords::Documents).d_max(3);
    let model = fitted(params.clone().n_features(200));
    let random = model.random_documents();
    let name = |vector: &[f32]| {
        let word = toy::WORDS.iter().find(|(_, of_word)| of_word == vector);
        word.unwrap().0
    };
    let mut seen = std::collections::BTreeSet::new();
    for j in 0..200 {
        let mut words: Vec<&str> = random.words(j).chunks_exact(2).map(name).collect();
        words.sort_unstable();
        let n = words.len();
        words.dedup();
        assert_eq!(words.len(), n, "its words are distinct");
        let is_part = |text: &&str| words.iter().all(|word| text.contains(word));
        assert!(toy::TEXTS.iter().any(&is_part), "{words:?}");
        seen.insert(words);
    }
    // Every part of every text: a, b, c, d, e; ab, ac, bc, ad, ed, eb, db; abc, edb.
    assert_eq!(seen.len(), 14);
    let first = fitted(params.n_features(7));
    for j in 0..7 {
        assert_eq!(first.random_documents().words(j), random.words(j));
    }
    // A model that was loaded has its random documents, but no documents to draw from.
    let bytes = model.to_bytes(true).unwrap();
    let loaded = ModelFile::from_bytes(&bytes, "m.wme").unwrap();
    let loaded = loaded.with_vectors(None).unwrap();
    assert_eq!(loaded.random_documents(), random);
    let params = loaded.params().clone().gamma(Gamma::Value(1.0));
    let drawn = WordMoversEmbedding::draw(params, loaded.documents().clone());
    assert!(matches!(
        drawn,
        Err(Error::InvalidParameter {
            name: "random_words",
            ..
        })
    ));
}

#[test]
fn factors_multiply_the_weights_of_words() {
    use wordmover::document::{Word, WordFactors};
    let model = fitted(toy::params().weighting(Weighting::Tfidf));
    let plain = model.documents().document_of("a a b c");
    let mut factors = WordFactors::default();
    factors.insert(Word::Known(0), 4.0);
    factors.insert(Word::Known(2), 0.5);
    factors.insert(Word::Known(1), f64::NAN);
    let documents = model.documents().as_ref().clone();
    let weighed = documents.with_factors(Some(factors)).document_of("a a b c");
    let each = plain.weights().iter().zip([4.0, 1.0, 0.5]);
    let raw: Vec<f64> = each.map(|(weight, factor)| weight * factor).collect();
    let total: f64 = raw.iter().sum();
    for (weight, raw) in weighed.weights().iter().zip(raw) {
        assert!((weight - raw / total).abs() < 1e-15);
    }
}

#[test]
fn the_same_bits_for_any_threads_batch_and_company() {
    let texts: Vec<String> = (0..300)
        .map(|i| {
            let words = (0..=i % 7).map(|k| toy::WORDS[(i * 3 + k * k) % 5].0);
            words.collect::<Vec<_>>().join(" ")
        })
        .collect();
    let fit = || {
        let params = toy::params()
            .random_words(RandomWords::Gaussian)
            .d_max(7)
            .n_features(64)
            .post_processing(PostProcessing::Standardize)
            .components(Components::Flatten(3));
        WordMoversEmbedding::fit(params, toy::vectors(), &texts).unwrap()
    };
    let with_threads = |n| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(n)
            .build()
            .unwrap();
        pool.install(|| fit().transform(&texts).unwrap())
    };
    let together = with_threads(1);
    assert_eq!(together, with_threads(2));
    assert_eq!(together, with_threads(5));
    let model = fit();
    let alone: Vec<f32> = texts
        .iter()
        .flat_map(|text| model.transform(&[text]).unwrap())
        .collect();
    assert_eq!(together, alone);
}

/// Documents with more words than a small block has are compared tile after tile by all threads,
/// few documents a tile for each thread, one document by the calling thread.
#[test]
fn the_same_bits_for_large_and_small_blocks_and_for_one_document() {
    let words: Vec<String> = (0..5000).map(|i| format!("w{i}")).collect();
    let vectors: Vec<f32> = (0..15000).map(|i| (i as f32 * 0.73).sin()).collect();
    let vectors = Arc::new(WordVectors::from_rows("sines", words.clone(), vectors, 3).unwrap());
    let texts: Vec<String> = words.chunks(100).map(|words| words.join(" ")).collect();
    let params = toy::params()
        .random_words(RandomWords::Gaussian)
        .d_max(9)
        .n_features(100)
        .components(Components::Flatten(2));
    let model = WordMoversEmbedding::fit(params, vectors, &texts[..10]).unwrap();
    let documents: Vec<Document> = texts
        .iter()
        .map(|text| model.document(&model.word_counts(text)))
        .collect();
    let large = model.embed(&documents).unwrap();
    let small = documents
        .chunks(7)
        .flat_map(|few| model.embed(few).unwrap());
    assert_eq!(large, small.collect::<Vec<f32>>());
    let alone = documents.iter().map(|one| model.embed_one(one).unwrap());
    assert_eq!(large, alone.flatten().collect::<Vec<f32>>());
}

#[test]
fn a_text_without_known_words_has_a_row_of_zeros() {
    for params in [
        toy::params(),
        toy::params().post_processing(PostProcessing::Center),
        toy::params()
            .post_processing(PostProcessing::Standardize)
            .components(Components::Remove(1)),
    ] {
        let model = fitted(params.n_features(8));
        let z = model.transform(&["a", "", "zzz", "b"]).unwrap();
        assert!(z[8..24].iter().all(|&x| x == 0.0));
        assert!(z[..8].iter().chain(&z[24..]).all(|&x| x != 0.0));
    }
}

/// Texts enough to need no background documents.
fn many_texts() -> Vec<String> {
    let text = |i: usize| {
        let repeats = [i % 4, i / 4 % 4, i / 16 % 4, i / 64 % 5, 1];
        let words = toy::WORDS.iter().zip(repeats);
        let words = words.flat_map(|((word, _), n)| std::iter::repeat_n(*word, n));
        words.collect::<Vec<_>>().join(" ")
    };
    (0..300).map(text).collect()
}

#[test]
fn post_processed_features_are_those_of_the_definition() {
    let texts = many_texts();
    let fit = |params: EmbeddingParams| {
        let params = params.n_features(24).gamma(Gamma::Value(0.7));
        WordMoversEmbedding::fit(params, toy::vectors(), &texts).unwrap()
    };
    let embed = |params| fit(params).transform(&texts).unwrap();
    let raw = embed(toy::params());
    let centered = embed(toy::params().post_processing(PostProcessing::Center));
    let standardized = embed(toy::params().post_processing(PostProcessing::Standardize));
    let n = texts.len();
    for j in 0..24 {
        let column = |z: &[f32]| -> Vec<f64> {
            z.iter()
                .skip(j)
                .step_by(24)
                .map(|&x| f64::from(x))
                .collect()
        };
        let (raw, centered) = (column(&raw), column(&centered));
        let mean = raw.iter().sum::<f64>() / n as f64;
        let variance = raw.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / n as f64;
        for ((raw, centered), standard) in raw.iter().zip(&centered).zip(column(&standardized)) {
            assert!((raw - mean - centered).abs() < 1e-7);
            let due = (raw - mean) / (variance * 24.0).sqrt();
            assert!((standard - due).abs() < 1e-5, "{standard} {due}");
        }
    }
}

#[test]
fn post_processing_fitted_on_kept_distances_is_that_of_a_fit() {
    // As many distinct documents that the fit's sample is all of them.
    let texts = many_texts();
    for how in [
        PostProcessing::Raw,
        PostProcessing::Center,
        PostProcessing::Standardize,
        PostProcessing::Unit,
    ] {
        let params = toy::params().n_features(24).gamma(Gamma::Value(0.7));
        let params = params.post_processing(how);
        let fitted = WordMoversEmbedding::fit(params.clone(), toy::vectors(), &texts).unwrap();
        let documents: Vec<Document> = texts
            .iter()
            .map(|text| fitted.document(&fitted.word_counts(text)))
            .collect();
        let drawn = WordMoversEmbedding::draw(params.raw(), fitted.documents().clone()).unwrap();
        let mut distances = vec![0.0; texts.len() * 24];
        drawn
            .distances_into(&documents, 0..24, &mut distances, &mut |_| {
                ControlFlow::Continue(())
            })
            .unwrap();
        let kept = drawn.post_processed(how, &distances);
        assert_eq!(
            kept.to_bytes(false).unwrap(),
            fitted.to_bytes(false).unwrap()
        );
        kept.make_features(&mut distances).unwrap();
        assert_eq!(distances, fitted.embed(&documents).unwrap());
    }
}

#[test]
fn removed_components_are_gone_and_flattened_ones_level() {
    let texts = many_texts();
    let embed = |components| {
        let params = toy::params()
            .n_features(24)
            .post_processing(PostProcessing::Center);
        let params = params.components(components);
        let model = WordMoversEmbedding::fit(params, toy::vectors(), &texts).unwrap();
        model.transform(&texts).unwrap()
    };
    let squares = |z: &[f32]| z.iter().map(|&x| f64::from(x) * f64::from(x)).sum::<f64>();
    let [kept, flattened, removed] = [
        Components::Keep,
        Components::Flatten(1),
        Components::Remove(1),
    ]
    .map(embed);
    assert!(squares(&kept) > 1.2 * squares(&flattened));
    assert!(squares(&flattened) > 1.2 * squares(&removed));
    // What flattening leaves of the first component is as strong as the second.
    let second = squares(&flattened) - squares(&removed);
    let twice = embed(Components::Remove(2));
    assert!((squares(&removed) - squares(&twice) - second).abs() < 1e-3 * second);
}

#[test]
fn two_texts_alone_are_not_opposites() {
    let model = WordMoversEmbedding::fit(
        EmbeddingParams::default(),
        Arc::new(WordVectors::builtin()),
        &["A cat sat on the mat", "A dog lay on the rug"],
    );
    let texts = [
        "A cat sat on the mat",
        "A dog lay on the rug",
        "Parliament votes on the budget",
    ];
    let z = model.unwrap().transform(&texts).unwrap();
    let row = |i: usize| &z[i * 512..][..512];
    let like = cosine(row(0), row(1));
    let unlike = cosine(row(0), row(2));
    assert!(like > 0.1 && like > unlike, "{like} {unlike}");
    assert_eq!(cosine(row(0), row(0)), 1.0);
}

#[test]
fn sif_weights_take_probabilities_from_where_they_are_told() {
    let vectors = toy::vectors();
    let params = || toy::params().n_features(4).weighting(Weighting::Sif);
    let weights = |fitter: Fitter| {
        let mut fitter = fitter;
        for text in toy::TEXTS {
            let counts = fitter.word_counts(text);
            fitter.observe(&counts);
        }
        let model = fitter.finish().unwrap();
        model.document(&model.word_counts("a b")).weights().to_vec()
    };
    let fitter = || Fitter::new(params().check().unwrap(), vectors.clone());
    let shares = |a: f64, b: f64| vec![a / (a + b), b / (a + b)];
    let sif = |p: f64| 1e-3 / (1e-3 + p);
    // Of ten known words, a is three and b two.
    let corpus = weights(fitter().word_probabilities(None));
    assert_eq!(corpus, shares(sif(0.3), sif(0.2)));
    let given = WordProbabilities::from_counts("given", &vectors, [("a", 1), ("z", 3)]);
    let given = weights(fitter().word_probabilities(Some(given)));
    assert_eq!(given, shares(sif(0.25), 1.0));
    // The built-in words know that a is frequent.
    let builtin = weights(fitter());
    assert!(builtin[0] < 0.2 * builtin[1], "{builtin:?}");
}

#[test]
fn gamma_auto_is_one_over_the_median_distance() {
    let model = fitted(toy::params().n_features(32));
    let documents = toy::TEXTS.map(|text| model.document(&model.word_counts(text)));
    let mut distances = vec![0.0; 4 * 32];
    model
        .distances_into(&documents, 0..32, &mut distances, &mut |_| {
            ControlFlow::Continue(())
        })
        .unwrap();
    distances.sort_by(f32::total_cmp);
    let median = f64::from(distances[distances.len() / 2]);
    assert_eq!(model.gamma(), Some(1.0 / median));
}

#[test]
fn bad_parameters_and_empty_corpora_are_refused() {
    let say = |params: EmbeddingParams| params.check().unwrap_err().to_string();
    assert_eq!(
        say(toy::params().n_features(0)),
        "n_features is 0: it must be between 1 and 1048576"
    );
    assert_eq!(
        say(toy::params().components(Components::Flatten(65))),
        "components is 65: it must be at most 64"
    );
    assert_eq!(
        say(toy::params().d_max(0)),
        "d_max is 0: it must be between 1 and 4096"
    );
    assert_eq!(
        say(toy::params().n_features(1 << 20).d_max(17)),
        "n_features times d_max is 17825792: it must be at most 16777216"
    );
    for gamma in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let said = say(toy::params().gamma(Gamma::Value(gamma)));
        assert!(
            said.ends_with("it must be a positive finite number"),
            "{said}"
        );
    }
    let none: [&str; 0] = [];
    for texts in [&none[..], &["zzz", ""]] {
        let refused = WordMoversEmbedding::fit(toy::params(), toy::vectors(), texts).unwrap_err();
        assert!(
            matches!(refused, Error::EmptyCorpus { n_documents } if n_documents == texts.len() as u64)
        );
    }
}

#[test]
fn progress_counts_every_distance_and_can_stop_the_work() {
    let model = fitted(toy::params().n_features(300));
    let documents = toy::TEXTS.map(|text| model.document(&model.word_counts(text)));
    let mut out = vec![0.0; 4 * 300];
    let mut total = EmbeddingStatistics::default();
    model
        .embed_into(&documents, &mut out, &mut |done| {
            total += *done;
            ControlFlow::Continue(())
        })
        .unwrap();
    assert_eq!(total.distances, 4 * 300);
    assert!(total.ground_costs > Duration::ZERO && total.transport > Duration::ZERO);
    let stopped = model.embed_into(&documents, &mut out, &mut |_| ControlFlow::Break(()));
    assert!(matches!(stopped, Err(Error::Interrupted)));
}

#[test]
fn the_corpus_of_the_fit_is_embedded_as_any_other() {
    // Distances of sampled documents are kept with a model that was fitted here; a model
    // that was read has none. Both give the same bits.
    let texts = many_texts();
    let params = EmbeddingParams::default().n_features(40).d_max(5);
    let tokenizer = toy::params().documents.tokenizer;
    let model = WordMoversEmbedding::fit(params.tokenizer(tokenizer), toy::vectors(), &texts);
    let model = model.unwrap();
    let file = ModelFile::from_bytes(&model.to_bytes(false).unwrap(), "m.wme").unwrap();
    let read = file.with_vectors(Some(toy::vectors())).unwrap();
    assert_eq!(
        model.transform(&texts).unwrap(),
        read.transform(&texts).unwrap()
    );
}

#[test]
fn a_corpus_of_equal_documents_gives_sane_rows() {
    let vectors = Arc::new(WordVectors::builtin());
    let mut texts = vec!["president music band"; 300];
    for others in [&[][..], &["a cat sat on the mat", "stocks fell sharply"]] {
        texts.extend(others);
        let params = EmbeddingParams::default().n_features(64);
        let model = WordMoversEmbedding::fit(params, vectors.clone(), &texts).unwrap();
        let asked = [
            "president music band",
            "a goal in the last minute",
            "stocks fell",
        ];
        let z = model.transform(&asked).unwrap();
        let length = |row: &[f32]| row.iter().map(|x| x * x).sum::<f32>().sqrt();
        for (row, text) in z.chunks_exact(64).zip(asked) {
            assert!(length(row) < 30.0, "{text}: {}", length(row));
        }
        // Other texts are told apart from the one that the corpus is made of.
        assert!(length(&z[64..128]) > 0.1);
    }
}

/// An accelerator that is none: it solves one problem after the other from differences of
/// coordinates.
#[derive(Debug, Default)]
struct OneByOne {
    /// What it answers instead, if anything.
    refuses: bool,
}

impl Accelerator for OneByOne {
    fn name(&self) -> &str {
        "one by one"
    }

    fn distances(
        &self,
        batch: DistanceBatch<'_>,
        out: &mut [f32],
    ) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        if self.refuses {
            return Err("out of memory".into());
        }
        let (dim, mut solver) = (batch.dim, Workspace::default());
        let mut out = out.iter_mut();
        for range in batch.starts.windows(2) {
            let weights = &batch.weights[range[0]..range[1]];
            let words = &batch.words[range[0]..range[1]];
            for sinks in batch.random_starts.windows(2) {
                let random = &batch.random_vectors[sinks[0] * dim..sinks[1] * dim];
                let vector = |word: u32| &batch.vectors[word as usize * dim..][..dim];
                let cost = |a: &[f32], b: &[f32]| {
                    let squares = a.iter().zip(b).map(|(a, b)| f64::from(a - b).powi(2));
                    squares.sum::<f64>().sqrt()
                };
                let costs: Vec<f64> = words
                    .iter()
                    .flat_map(|&word| random.chunks(dim).map(move |r| cost(vector(word), r)))
                    .collect();
                let n_sinks = sinks[1] - sinks[0];
                let demand = vec![1.0 / n_sinks as f64; n_sinks];
                *out.next().unwrap() = match words {
                    [] => f32::INFINITY,
                    _ => solver.optimal_value(&costs, weights, &demand)? as f32,
                };
            }
        }
        assert!(out.next().is_none());
        Ok(())
    }
}

#[test]
fn an_accelerator_makes_the_same_features() {
    let mut texts = many_texts();
    texts.push("xyzzy".to_owned());
    let params = EmbeddingParams::default().n_features(40).d_max(5);
    let mut params = params.tokenizer(toy::params().documents.tokenizer);
    params.documents.unknown = toy::params().documents.unknown;
    let fit = |accelerator: Option<Arc<dyn Accelerator>>| {
        let mut fitter = Fitter::new(params.clone().check().unwrap(), toy::vectors());
        fitter = fitter.accelerator(accelerator);
        for text in &texts {
            fitter.observe(&fitter.word_counts(text));
        }
        (fitter.key(), fitter.finish())
    };
    let (key, model) = fit(None);
    let model = model.unwrap();
    let (other_key, accelerated) = fit(Some(Arc::new(OneByOne::default())));
    let accelerated = accelerated.unwrap();
    // What is kept of one must not be taken for the other's.
    assert_ne!(key, other_key);
    let documents = [model.document(&model.word_counts(&texts[0]))];
    assert_ne!(
        model.distances_key(&documents),
        accelerated.distances_key(&documents)
    );
    let expected = model.transform(&texts).unwrap();
    let moved = model.with_accelerator(Some(Arc::new(OneByOne::default())));
    for found in [&accelerated, &moved] {
        let found = found.transform(&texts).unwrap();
        for (found, expected) in found.iter().zip(&expected) {
            assert!((found - expected).abs() < 1e-4, "{found} {expected}");
        }
        assert!(found[found.len() - 40..].iter().all(|&x| x == 0.0));
    }
    let refusing = moved.with_accelerator(Some(Arc::new(OneByOne { refuses: true })));
    let error = refusing.transform(&["a text that was not seen before"]);
    assert_eq!(
        wordmover::error_message::of(&error.unwrap_err()),
        "one by one could not compute distances: out of memory"
    );
}
