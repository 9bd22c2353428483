//! How much one request, and all of them together, may ask for.

use std::time::Duration;

/// Limits of the service. Every refusal names the limit it is about.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Limits {
    /// Bytes of a request's body.
    pub body_bytes: usize,
    /// Texts of a request.
    pub texts: usize,
    /// Words of a text, stop words included.
    pub words: usize,
    /// Distinct words of a text whose transport plan is asked for.
    pub plan_words: usize,
    /// Requests that wait or are worked on; more are answered with status 429.
    pub queue: usize,
    /// Bytes of all bodies and answers in memory; beyond, requests get status 429.
    pub memory_bytes: usize,
    /// Open connections; more wait to be accepted.
    pub connections: usize,
    /// From the head of a request to its answer.
    pub request_time: Duration,
    /// For the head of a request, and so for an idle connection, and for a client that does
    /// not read its answer.
    pub idle_time: Duration,
    /// What is under way at the end may take so long.
    pub shutdown_time: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            body_bytes: 8 << 20,
            texts: 2048,
            words: 20_000,
            plan_words: 1000,
            queue: 1024,
            memory_bytes: 512 << 20,
            connections: 16_384,
            request_time: Duration::from_secs(60),
            idle_time: Duration::from_secs(30),
            shutdown_time: Duration::from_secs(30),
        }
    }
}
