//! Refinement: what is decided about the winner of the race, and by what.

mod toy;

use toy::{corpus, params, silent};
use wordmover::embedding::PostProcessing;
use wordmover::random_documents::RandomWords;
use wordmover_classify::{
    Cache, Candidate, LabeledCorpus, Protocol, TextClassifier, Training, Views, WmeParams,
};

fn train(params: &WmeParams, corpus: &LabeledCorpus) -> (TextClassifier, Training) {
    TextClassifier::train(params, corpus, &Cache::none(), &silent).unwrap()
}

/// What a note says of each step of refinement: how it is called, and the share right.
fn refinement(training: &Training) -> Vec<(String, f64)> {
    let mut notes = training.notes.iter();
    let note = notes.find(|note| note.starts_with("refined")).unwrap();
    let (_, steps) = note.split_once(": ").unwrap();
    let step = |step: &str| {
        let (what, share) = step.trim_end_matches(" %").rsplit_once(' ').unwrap();
        (what.to_owned(), share.parse().unwrap())
    };
    steps.split(", ").map(step).collect()
}

/// Of the candidates of a kind the first with the greatest share right; all rounds have as many
/// features.
fn raced(training: &Training, is_kind: impl Fn(&Candidate) -> bool) -> Candidate {
    let points = training.rounds.iter().flat_map(|round| &round.points);
    let points = points.filter(|point| is_kind(&point.candidate));
    let best = points.min_by(|a, b| b.accuracy.total_cmp(&a.accuracy));
    best.unwrap().candidate
}

/// Random documents, as notes name them.
fn random_documents(candidate: &Candidate) -> String {
    let Candidate {
        random_words,
        d_max,
        ..
    } = candidate;
    format!("{random_words} D_max = {d_max}")
}

#[test]
fn the_winner_is_refined_by_what_has_more_documents_right() {
    let (mut kinds, mut exponents, mut heavies, mut units) = (0, 0, 0, 0);
    for seed in 1..25 {
        let mut params = params(Protocol::Fast);
        params.views = vec![Views::Meanings];
        params.embedding.n_features = 4;
        let (classifier, training) = train(&params, &corpus(60, seed));
        let mut steps = refinement(&training);
        let choice = &training.choice;
        // Half a standard error of a share.
        let doubt = |share: f64| {
            let right = share / 100.0;
            50.0 * (right * (1.0 - right) / 60.0).sqrt()
        };

        // The winner, and the best with its weights and the other kind of random words.
        let winner = raced(&training, |_| true);
        let (weighting, exponent) = (winner.weighting, winner.label_exponent);
        let rival = raced(&training, |other| {
            (other.weighting, other.label_exponent) == (weighting, exponent)
                && other.random_words != winner.random_words
        });
        let (first, second) = (steps.remove(0), steps.remove(0));
        let mut notes = training.notes.iter();
        assert!(notes.any(|note| note.contains(&format!(", from labels^{exponent}: "))));
        assert_eq!(first.0, random_documents(&winner));
        assert_eq!(second.0, random_documents(&rival));
        let is_rival = second.1 > first.1;
        let (chosen, mut share) = match is_rival {
            true => (rival, second.1),
            false => (winner, first.1),
        };
        let random = random_documents(&choice.candidate);
        assert_eq!(random, random_documents(&chosen));

        let (what, heavy) = steps.remove(0);
        assert_eq!(what, "heavy bias");
        let is_heavy = heavy > share + doubt(share);
        if is_heavy {
            share = heavy;
        }
        assert_eq!(choice.bias, Some(if is_heavy { 1.0 / 32.0 } else { 1.0 }));

        let (what, unit) = steps.pop().unwrap();
        assert_eq!(what, "documents of length 1");
        // The greater exponent must be ahead beyond doubt.
        let mut best = exponent;
        for (what, other) in &steps {
            let label_exponent: f64 = what.strip_prefix("labels^").unwrap().parse().unwrap();
            let is_better = match label_exponent < best {
                true => share <= other + doubt(*other),
                false => *other > share + doubt(share),
            };
            if is_better {
                (best, share) = (label_exponent, *other);
            }
        }
        assert_eq!(choice.candidate.label_exponent, best, "{steps:?}");

        let is_unit = choice.post_processing == PostProcessing::Unit;
        assert_eq!(is_unit, unit > share, "{steps:?} {unit}");
        let embedding = classifier.embedding().params();
        assert_eq!(embedding.post_processing, choice.post_processing);
        let share = if is_unit { unit } else { share };
        assert!((100.0 * choice.accuracy - share).abs() < 0.006);
        kinds += usize::from(is_rival);
        exponents += usize::from(best != exponent);
        heavies += usize::from(is_heavy);
        units += usize::from(is_unit);
    }
    // Each happens, and does not.
    for n in [kinds, exponents, heavies, units] {
        let both = 1..24;
        assert!(both.contains(&n), "{kinds} {exponents} {heavies} {units}");
    }
}

#[test]
fn uniform_random_words_must_be_ahead_beyond_doubt_if_more_features_are_wanted() {
    let mut doubted = 0;
    for seed in 1..13 {
        let mut params = params(Protocol::Fast);
        params.views = vec![Views::Meanings];
        params.label_exponents = vec![0.0];
        let mut choices = Vec::new();
        for n_features in [1024, 1025] {
            params.embedding.n_features = n_features;
            let (_, training) = train(&params, &corpus(60, seed));
            let mut steps = refinement(&training);
            steps.truncate(2);
            steps.sort_by(|a, b| b.0.cmp(&a.0));
            let [uniform, documents] = [steps[0].1, steps[1].1];
            assert!(steps[0].0.starts_with("uniform") && steps[1].0.starts_with("documents"));
            let candidate = training.choice.candidate;
            let is_uniform = candidate.random_words == RandomWords::Uniform;
            choices.push((uniform > documents, is_uniform));
        }
        let [(is_ahead, is_chosen), (_, is_still_chosen)] = choices[..] else {
            unreachable!("two numbers of features");
        };
        assert!(is_chosen || !is_ahead, "{seed}");
        assert!(is_chosen || !is_still_chosen, "{seed}");
        doubted += usize::from(is_chosen && !is_still_chosen);
    }
    assert!(doubted > 0);
}
