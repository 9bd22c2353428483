//! Numbers from the bytes of an input; when they run out, from a hash of them.

pub struct Bytes<'a> {
    rest: &'a [u8],
    state: u64,
}

impl<'a> Bytes<'a> {
    pub fn new(data: &'a [u8]) -> Self {
        let hash = data.iter().fold(0xcbf2_9ce4_8422_2325, |hash: u64, &byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        Bytes {
            rest: data,
            state: hash,
        }
    }

    pub fn byte(&mut self) -> u8 {
        if let Some((&first, rest)) = self.rest.split_first() {
            self.rest = rest;
            return first;
        }
        (self.next_hashed() >> 56) as u8
    }

    pub fn below(&mut self, n: usize) -> usize {
        if n <= 256 {
            usize::from(self.byte()) % n
        } else {
            (usize::from(self.byte()) << 8 | usize::from(self.byte())) % n
        }
    }

    pub fn word(&mut self) -> u64 {
        if let Some((word, rest)) = self.rest.split_first_chunk() {
            self.rest = rest;
            return u64::from_le_bytes(*word);
        }
        self.next_hashed()
    }

    /// From 0 up to but without 1.
    pub fn unit(&mut self) -> f64 {
        (self.word() >> 11) as f64 * 0.5f64.powi(53)
    }

    /// Splitmix64.
    fn next_hashed(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}
