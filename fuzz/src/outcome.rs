//! What came of an input, as a number.

use std::hash::{DefaultHasher, Hash, Hasher};

/// Of an error: the words of its message, whatever numbers and names the input put between
/// them. Every message is one line that ends without a full stop.
pub fn of_error(error: &dyn std::fmt::Display) -> u64 {
    let message = error.to_string();
    assert!(
        !message.contains(['\n', '\r']),
        "several lines: {message:?}"
    );
    assert!(!message.ends_with('.'), "a full stop: {message:?}");
    let mut hasher = DefaultHasher::new();
    let words = message.split(' ');
    let plain = words.filter(|word| word.bytes().all(|byte| byte.is_ascii_lowercase()));
    for word in plain.take(12) {
        word.hash(&mut hasher);
    }
    hasher.finish()
}

/// Of a success: what it is like, coarsely.
pub fn of(value: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    ("done", value).hash(&mut hasher);
    hasher.finish()
}

/// Sizes that matter: 0, 1, 2, and then by powers of four.
pub fn size(n: usize) -> u32 {
    if n < 3 { n as u32 } else { 3 + n.ilog2() / 2 }
}
