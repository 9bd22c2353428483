//! Text to tokens.
//!
//! A [`Tokenizer`] cuts a text into words at Unicode word boundaries, lower-cases
//! them and drops stop words. What it leaves out on purpose: stemming, phrases,
//! language detection. Text that was tokenised elsewhere skips this module: see
//! [`WordCounts::from_tokens`](crate::document::WordCounts::from_tokens).

mod stop_words;
mod tokenizer;

pub use stop_words::StopWords;
pub use tokenizer::{Case, Tokenizer, TokenizerVersion};
