//! The problems of `testdata/liblinear/problems.py`, made with the same bits.

const LATENT: usize = 4;

pub struct Problem {
    pub n_columns: usize,
    pub features: Vec<f32>,
    pub labels: Vec<usize>,
}

/// Documents of each class, columns, spread of the distances, kind.
fn shape(name: &str) -> (&'static [usize], usize, f64, &'static str) {
    match name {
        "two-classes" => (&[70, 50], 24, 0.02, "plain"),
        "three-classes" => (&[60, 50, 40], 30, 0.02, "plain"),
        "eight-classes" => (&[25; 8], 40, 0.02, "plain"),
        "unbalanced" => (&[180, 17, 3], 30, 0.02, "plain"),
        "one-member" => (&[40, 19, 1], 16, 0.02, "plain"),
        "two-unbalanced" => (&[145, 5], 20, 0.02, "plain"),
        "wide-spread" => (&[60, 50, 40], 30, 0.5, "plain"),
        "more-columns" => (&[25, 20, 15], 150, 0.02, "plain"),
        "duplicate-columns" => (&[50, 40, 30], 32, 0.02, "duplicates"),
        "constant-columns" => (&[50, 40, 30], 24, 0.02, "constants"),
        "empty-documents" => (&[50, 40, 30], 24, 0.02, "empty"),
        "tiny-features" => (&[50, 40, 30], 24, 0.02, "tiny"),
        _ => panic!("there is no problem {name}"),
    }
}

struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / 9007199254740992.0
    }

    fn spread(&mut self) -> f64 {
        self.next() + self.next() + self.next() + self.next() - 2.0
    }

    fn point(&mut self, scale: f64) -> [f64; LATENT] {
        std::array::from_fn(|_| scale * self.spread())
    }
}

pub fn fnv1a(bytes: impl IntoIterator<Item = u8>) -> u64 {
    let start = 0xCBF2_9CE4_8422_2325u64;
    bytes.into_iter().fold(start, |value, byte| {
        (value ^ u64::from(byte)).wrapping_mul(0x100_0000_01B3)
    })
}

impl Problem {
    pub fn make(name: &str) -> Self {
        let (sizes, n_columns, spread, kind) = shape(name);
        let mut numbers = Numbers(fnv1a(name.bytes()));
        let centers: Vec<_> = sizes.iter().map(|_| numbers.point(1.0)).collect();
        let columns: Vec<_> = (0..n_columns).map(|_| numbers.point(2.0)).collect();
        let each = sizes.iter().enumerate();
        let mut labels: Vec<usize> = each
            .flat_map(|(class, &size)| std::iter::repeat_n(class, size))
            .collect();
        for last in (1..labels.len()).rev() {
            let other = (numbers.next() * (last + 1) as f64) as usize;
            labels.swap(last, other);
        }
        let root = (n_columns as f64).sqrt();
        let mut features = Vec::new();
        for (i, &label) in labels.iter().enumerate() {
            let at = centers[label].map(|center| center + 0.7 * numbers.spread());
            for (j, column) in columns.iter().enumerate() {
                let mut square = 0.0;
                for (a, b) in at.iter().zip(column) {
                    square += (a - b) * (a - b);
                }
                let distance = 1.2 + spread * square.sqrt();
                let mut x = 1.0 - distance / 64.0;
                for _ in 0..6 {
                    x = x * x;
                }
                x = match kind {
                    "tiny" => x / root / 65536.0,
                    "empty" if i % 11 == 3 => 0.0,
                    "constants" if j % 5 == 2 => 0.25 * (j / 10) as f64,
                    "duplicates" if j % 4 != 0 => f64::from(features[features.len() - j % 4]),
                    _ => x / root,
                };
                features.push(x as f32);
            }
        }
        Problem {
            n_columns,
            features,
            labels,
        }
    }

    pub fn checksum(&self) -> u64 {
        let features = self.features.iter().flat_map(|x| x.to_le_bytes());
        let labels = self
            .labels
            .iter()
            .flat_map(|&label| (label as u64).to_le_bytes());
        fnv1a(features.chain(labels))
    }
}
