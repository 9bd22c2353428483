//! Two texts side by side: their words, and where the mass of each goes.
//!
//! The page and `wordmover explain` draw this; `/v1/distance` answers with it.

use serde::Serialize;
use wordmover::document::{Word, WordCounts};
use wordmover::space::UnknownWords;
use wordmover::text::{StopWords, Tokenizer};
use wordmover::transport::{Amount, solve_partial};
use wordmover::wmd::{self, WordMove};
use wordmover::{Document, DocumentModel};

/// More than any distance between words could save: it makes pinned words move.
const PIN: f64 = 16.0;

/// What to do otherwise than the plain Word Mover's Distance.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct AlignmentOptions {
    /// Share of the mass that stays unmatched on either side, less than 1.
    pub unmatched: f64,
    /// Words of either text to leave out.
    pub drop: [Vec<String>; 2],
    /// Words of either text that must be matched before others are.
    pub pin: [Vec<String>; 2],
}

/// The words of two texts and the plan between them.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Alignment {
    /// Sum of mass times cost over the moves.
    pub distance: f64,
    /// Share of the mass that stays unmatched on either side.
    pub unmatched: f64,
    /// The first text.
    pub first: AlignedText,
    /// The second text.
    pub second: AlignedText,
    /// Which mass goes where.
    pub moves: Vec<AlignedMove>,
}

/// One of the two texts.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AlignedText {
    /// The text itself.
    pub text: String,
    /// Its distinct words with a weight, in order of first occurrence.
    pub words: Vec<AlignedWord>,
    /// Words without a weight, and why.
    pub left_out: Vec<LeftOut>,
}

/// A word with its weight.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AlignedWord {
    /// The word.
    pub word: String,
    /// Its share of the text's mass.
    pub weight: f64,
    /// How much of that stays unmatched.
    pub unmatched: f64,
    /// Where its vector comes from.
    pub kind: WordKind,
    /// Whether the other text has it as well.
    pub shared: bool,
}

/// Where the vector of a word comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum WordKind {
    /// The word vectors have it.
    Known,
    /// It is composed of parts of the word.
    Composed,
    /// It is made of a hash of the word, and says nothing of its meaning.
    Random,
}

/// A word that has no weight.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    /// The word.
    pub word: String,
    /// Why it has none.
    pub why: Reason,
}

/// Why a word has no weight.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Reason {
    /// It is a stop word.
    StopWord,
    /// The word vectors lack it.
    Unknown,
    /// The model drops it: it is too rare, or the text has too many words.
    Cut,
    /// It was asked to be left out.
    Dropped,
}

/// Mass that goes from one word to another.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct AlignedMove {
    /// Position among the words of the first text.
    pub from: usize,
    /// Position among the words of the second text.
    pub to: usize,
    /// How much goes.
    pub mass: f64,
    /// The distance between the two words.
    pub cost: f64,
}

/// Why two texts cannot be aligned.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AlignmentError {
    /// A text (0 or 1) has no word with a vector.
    #[error("the text has no word that has a vector, apart from words left out")]
    NoWords(usize),
    /// A text has more distinct words than allowed.
    #[error("the text has {found} distinct words; a plan may have {most}")]
    TooManyWords {
        /// 0 or 1.
        text: usize,
        /// Distinct words.
        found: usize,
        /// The limit.
        most: usize,
    },
    /// The library's reason.
    #[error(transparent)]
    Model(#[from] wordmover::Error),
}

impl Alignment {
    /// Aligns two texts of at most `most_words` distinct words.
    ///
    /// # Errors
    ///
    /// A text has no word or too many; a word vector is not finite.
    pub fn new(
        model: &DocumentModel,
        texts: [&str; 2],
        options: &AlignmentOptions,
        most_words: usize,
    ) -> Result<Self, AlignmentError> {
        let mut documents = [Document::default(), Document::default()];
        for (i, document) in documents.iter_mut().enumerate() {
            let mut counts = model.word_counts(texts[i]);
            drop_words(&mut counts, &options.drop[i], model);
            *document = model.document(&counts);
            if document.is_empty() {
                return Err(AlignmentError::NoWords(i));
            }
            if document.len() > most_words {
                return Err(AlignmentError::TooManyWords {
                    text: i,
                    found: document.len(),
                    most: most_words,
                });
            }
        }
        let [first, second] = &documents;
        let plan = Plan::new(model, first, second, options)?;
        let (first, first_places) = aligned(
            model,
            texts[0],
            first,
            second,
            &plan.unmatched[0],
            &options.drop[0],
        );
        let (second, second_places) = aligned(
            model,
            texts[1],
            &documents[1],
            &documents[0],
            &plan.unmatched[1],
            &options.drop[1],
        );
        let moves = plan.moves.iter().map(|step| AlignedMove {
            from: first_places[step.from as usize],
            to: second_places[step.to as usize],
            mass: step.mass,
            cost: step.cost,
        });
        let mut moves: Vec<AlignedMove> = moves.collect();
        moves.sort_by_key(|step| (step.from, step.to));
        Ok(Alignment {
            distance: plan.distance,
            unmatched: options.unmatched,
            first,
            second,
            moves,
        })
    }
}

/// A plan by the words' positions in their documents.
struct Plan {
    distance: f64,
    moves: Vec<WordMove>,
    unmatched: [Vec<f64>; 2],
}

impl Plan {
    fn new(
        model: &DocumentModel,
        first: &Document,
        second: &Document,
        options: &AlignmentOptions,
    ) -> Result<Self, wordmover::Error> {
        let space = model.space();
        if options.unmatched == 0.0 {
            let plan = wmd::transport(space, first, second)?;
            return Ok(Plan {
                distance: plan.distance,
                moves: plan.moves,
                unmatched: [vec![0.0; first.len()], vec![0.0; second.len()]],
            });
        }
        let amount = Amount::Mass(1.0 - options.unmatched);
        if options.pin.iter().all(Vec::is_empty) {
            let plan = wmd::partial_transport(space, first, second, amount)?;
            return Ok(Plan {
                distance: plan.distance,
                moves: plan.moves,
                unmatched: [plan.first_unmatched, plan.second_unmatched],
            });
        }
        // Pinned words get a prize for every bit that moves.
        let costs = ground_costs(model, first, second)?;
        let prize = |document: &Document, pinned: &[String]| -> Vec<f64> {
            let is_pinned = |word: Word| pinned.iter().any(|pin| pin == word.text(model.vectors()));
            let words = document.words();
            words
                .map(|word| if is_pinned(word) { PIN } else { 0.0 })
                .collect()
        };
        let prizes = [
            prize(first, &options.pin[0]),
            prize(second, &options.pin[1]),
        ];
        let n = second.len();
        let with_prizes = costs.iter().enumerate();
        let with_prizes: Vec<f64> = with_prizes
            .map(|(at, cost)| cost - prizes[0][at / n] - prizes[1][at % n])
            .collect();
        let plan = solve_partial(&with_prizes, first.weights(), second.weights(), amount)?;
        let moves: Vec<WordMove> = plan
            .flows
            .iter()
            .map(|flow| WordMove {
                from: flow.from,
                to: flow.to,
                mass: flow.mass,
                cost: costs[flow.from as usize * n + flow.to as usize],
            })
            .collect();
        Ok(Plan {
            distance: moves.iter().map(|step| step.mass * step.cost).sum(),
            moves,
            unmatched: [plan.unmatched_supply, plan.unmatched_demand],
        })
    }
}

/// Distances between all words of two documents, row by row.
fn ground_costs(
    model: &DocumentModel,
    first: &Document,
    second: &Document,
) -> Result<Vec<f64>, wordmover::Error> {
    let space = model.space();
    let (rows, columns) = (space.gather(first.words())?, space.gather(second.words())?);
    let mut costs = Vec::with_capacity(first.len() * second.len());
    for row in rows.chunks_exact(space.dim()) {
        for column in columns.chunks_exact(space.dim()) {
            let square = |(&x, &y): (&f32, &f32)| (f64::from(x) - f64::from(y)).powi(2);
            costs.push(row.iter().zip(column).map(square).sum::<f64>().sqrt());
        }
    }
    Ok(costs)
}

fn drop_words(counts: &mut WordCounts, dropped: &[String], model: &DocumentModel) {
    if dropped.is_empty() {
        return;
    }
    let is_dropped = |word: &str| dropped.iter().any(|other| other == word);
    let vectors = model.vectors();
    counts
        .words
        .retain(|&(id, _)| !is_dropped(vectors.word(id)));
    counts.unknown.retain(|(word, _)| !is_dropped(word));
}

/// The words of a text as they are read, and where each word of its document stands among
/// them.
fn aligned(
    model: &DocumentModel,
    text: &str,
    document: &Document,
    other: &Document,
    unmatched: &[f64],
    dropped: &[String],
) -> (AlignedText, Vec<usize>) {
    let vectors = model.vectors();
    let tokenizer = model.tokenizer();
    let names: Vec<&str> = document.words().map(|word| word.text(vectors)).collect();
    let mut order: Vec<usize> = Vec::new();
    let mut left_out: Vec<LeftOut> = Vec::new();
    let all_words = Tokenizer {
        stop_words: StopWords::None,
        ..tokenizer.clone()
    };
    let is_known = |word: &str| vectors.id(word).is_some();
    let mut seen = std::collections::HashSet::new();
    all_words.for_each(text, is_known, |word| {
        if !seen.insert(word.to_owned()) {
            return;
        }
        if let Some(position) = names.iter().position(|name| *name == word) {
            order.push(position);
            return;
        }
        let unknown = || {
            let word = Word::Unknown(word);
            vectors.id(word.text(vectors)).is_none() && !model.space().has_vector(word)
        };
        let why = if dropped.iter().any(|other| other == word) {
            Reason::Dropped
        } else if tokenizer.stop_words.contains(&word.to_lowercase()) {
            Reason::StopWord
        } else if unknown() {
            Reason::Unknown
        } else {
            Reason::Cut
        };
        left_out.push(LeftOut {
            word: word.to_owned(),
            why,
        });
    });
    // Whatever this way of reading missed comes last: nothing may be lost.
    let missing = (0..names.len()).filter(|position| !order.contains(position));
    let missing: Vec<usize> = missing.collect();
    order.extend(missing);
    let mut places = vec![0; names.len()];
    for (place, &position) in order.iter().enumerate() {
        places[position] = place;
    }
    let composed = match model.space().unknown() {
        UnknownWords::Random => WordKind::Random,
        _ => WordKind::Composed,
    };
    let words = order.iter().map(|&position| {
        let word = document.word(position);
        AlignedWord {
            word: names[position].to_owned(),
            weight: document.weights()[position],
            unmatched: unmatched[position],
            kind: match word {
                Word::Known(_) => WordKind::Known,
                Word::Unknown(_) => composed,
            },
            shared: other.words().any(|other| other == word),
        }
    });
    let aligned = AlignedText {
        text: text.to_owned(),
        words: words.collect(),
        left_out,
    };
    (aligned, places)
}
