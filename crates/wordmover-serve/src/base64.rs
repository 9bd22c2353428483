//! Base64 (RFC 4648, with padding), in which OpenAI's client asks for embeddings.

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Appends the little-endian bytes of the numbers.
pub(crate) fn encode_floats(numbers: &[f32], out: &mut Vec<u8>) {
    out.reserve(size_of_val(numbers).div_ceil(3) * 4);
    // Three numbers are sixteen letters.
    for three in numbers.chunks(3) {
        let mut bytes = [0; 12];
        for (bytes, x) in bytes.as_chunks_mut().0.iter_mut().zip(three) {
            *bytes = x.to_le_bytes();
        }
        encode(&bytes[..size_of_val(three)], out);
    }
}

pub(crate) fn encode(bytes: &[u8], out: &mut Vec<u8>) {
    let (threes, rest) = bytes.as_chunks();
    for three in threes {
        out.extend_from_slice(&letters(three));
    }
    if !rest.is_empty() {
        let mut three = [0; 3];
        three[..rest.len()].copy_from_slice(rest);
        let mut letters = letters(&three);
        // So many bytes need one letter more than they are.
        letters[rest.len() + 1..].fill(b'=');
        out.extend_from_slice(&letters);
    }
}

/// The letters of 24 bits.
fn letters(&[a, b, c]: &[u8; 3]) -> [u8; 4] {
    let bits = u32::from_be_bytes([0, a, b, c]);
    let letter = |shift: u32| ALPHABET[(bits >> shift) as usize & 63];
    [letter(18), letter(12), letter(6), letter(0)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_examples_of_the_standard() {
        for (bytes, due) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ] {
            let mut out = Vec::new();
            encode(bytes.as_bytes(), &mut out);
            assert_eq!(out, due.as_bytes());
        }
    }

    #[test]
    fn numbers_are_the_letters_of_their_bytes() {
        let numbers: Vec<f32> = (0..20).map(|i| (i as f32).exp() - 3.5).collect();
        for n in 0..numbers.len() {
            let bytes: Vec<u8> = numbers[..n].iter().flat_map(|x| x.to_le_bytes()).collect();
            let (mut found, mut due) = (Vec::new(), Vec::new());
            encode_floats(&numbers[..n], &mut found);
            encode(&bytes, &mut due);
            assert_eq!(found, due, "{n} numbers");
        }
        let mut out = Vec::new();
        encode_floats(&[1.0, -0.5], &mut out);
        assert_eq!(out, b"AACAPwAAAL8=");
    }
}
