//! What each path answers.

pub mod classify;
pub mod distance;
pub mod embeddings;
pub mod models;
pub mod similarity;

use serde::Serialize;

use crate::error::{ApiError, ApiResult};

/// How many words were read, as OpenAI's clients expect it. Tokens here are words.
#[derive(Serialize)]
pub(crate) struct Usage {
    prompt_tokens: u64,
    total_tokens: u64,
}

impl Usage {
    pub fn of(n_words: u64) -> Self {
        Usage {
            prompt_tokens: n_words,
            total_tokens: n_words,
        }
    }
}

/// What an answer says of one of its texts, so that nobody takes it for an ordinary one.
#[derive(Serialize)]
pub(crate) struct Warning {
    pub index: usize,
    pub message: String,
}

pub(crate) fn json(value: &impl Serialize) -> ApiResult<Vec<u8>> {
    serde_json::to_vec(value)
        .map_err(|error| ApiError::internal(format!("the answer cannot be written: {error}")))
}
