//! `wordmover points embed`, and `--metric` for words.

use crate::support::{Place, Rows};

/// Made by NumPy: three points in two sets, with weights.
const SETS: &[u8] = include_bytes!("../../src/input/testdata/sets-compressed.npz");

#[test]
fn sets_of_points_are_embedded() {
    let place = Place::new();
    place.write("sets.npz", SETS);
    place.ok("points embed sets.npz -o z.npy --features 16 --random-points sets");
    let rows = Rows::from_npy(&place.read("z.npy"));
    assert_eq!((rows.len(), rows.n_columns), (2, 16));
    let printed = place.ok("points embed sets.npz --features 16 --random-points sets");
    assert_eq!(Rows::from_json_lines(&printed).values, rows.values);
    let distances = place.ok("points embed sets.npz --features 3 --gamma none --metric cityblock");
    assert!(
        Rows::from_json_lines(&distances)
            .values
            .iter()
            .all(|&d| d >= 0.0)
    );
    place
        .run("points embed sets.npz -o z.npy")
        .failed(1, "z.npy exists; pass --force to replace it");
}

#[test]
fn what_is_no_set_of_points_is_refused() {
    let place = Place::new();
    place.write("bad.npz", &SETS[..200]);
    place
        .run("points embed bad.npz")
        .failed(1, "bad.npz: not an .npz archive");
    place
        .run("points embed missing.npz")
        .failed(1, "cannot read missing.npz: no such file");
    place.write("sets.parquet", b"PAR1");
    assert_eq!(place.run("points embed sets.parquet").code, Some(2));
    place.write("sets.npz", SETS);
    assert_eq!(
        place.run("points embed sets.npz --metric chebyshev").code,
        Some(2)
    );
    assert_eq!(
        place.run("points embed sets.npz --features 0").code,
        Some(2)
    );
}

#[test]
fn words_are_compared_by_any_metric() {
    let place = Place::new();
    let distance = |metric: &str| -> f64 {
        let call = ["distance", "a cat", "a dog", "--metric", metric];
        place.run_with(&call).succeeded().trim().parse().unwrap()
    };
    let euclidean = distance("euclidean");
    let default = place.run_with(&["distance", "a cat", "a dog"]).succeeded();
    assert_eq!(default.trim().parse::<f64>().unwrap(), euclidean);
    let squared = distance("sqeuclidean");
    assert!((squared - euclidean * euclidean).abs() < 1e-12);
    // Vectors have length 1 to single precision.
    assert!((distance("cosine") - squared / 2.0).abs() < 1e-6);
    assert!(distance("cityblock") > euclidean);
    let place = Place::with_docs();
    place.ok("fit docs.txt -o m.wme --features 8 --metric cosine");
    place.ok("embed docs.txt --model m.wme -o z.npy");
    let info = place.ok("info m.wme --json");
    assert!(info.contains("cosine"), "{info}");
    let plain = place.ok("embed docs.txt --features 8");
    assert_ne!(
        Rows::from_npy(&place.read("z.npy")).values,
        Rows::from_json_lines(&plain).values
    );
    let wrd = ["similarity", "a cat", "a cat", "--method", "wrd"];
    assert_eq!(place.run_with(&wrd).succeeded(), "0\n");
}
