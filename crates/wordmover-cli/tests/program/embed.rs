//! `wordmover embed`: what the rows are, and what they do not depend on.

use crate::support::{Place, Rows, TEXTS, lines};

#[test]
fn documents_become_rows_with_nothing_but_a_summary_said() {
    let place = Place::with_docs();
    let ended = place.run("embed docs.txt -o docs.npy");
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), ""));
    let said: Vec<&str> = ended.stderr.lines().collect();
    assert_eq!(said.len(), 4, "{said:?}");
    assert_eq!(
        said[0],
        "7 documents, 31 words, 90.3% of them known to minilm-160d-81k, 3.2% composed of their parts"
    );
    assert_eq!(said[1], "2 documents without a known word: rows of zeros");
    assert!(said[2].starts_with("opening ") && said[2].ends_with(" documents/s"));
    assert_eq!(said[3], "wrote docs.npy: 7 x 512");
    assert!(!ended.stderr.contains(['\r', '\x1b']), "{}", ended.stderr);

    let rows = Rows::from_npy(&place.read("docs.npy"));
    assert_eq!((rows.len(), rows.n_columns), (7, 512));
    place.ok("embed docs.txt -o raw.npy --raw");
    let raw = Rows::from_npy(&place.read("raw.npy"));
    for (i, text) in TEXTS.iter().enumerate() {
        let is_empty = text.is_empty() || text.starts_with("ᚱ");
        let (least, most) = (0.0, 1.0 / 512f32.sqrt());
        for (&value, &raw) in rows.row(i).iter().zip(raw.row(i)) {
            assert_eq!((value == 0.0, raw == 0.0), (is_empty, is_empty), "row {i}");
            assert!((least..=most).contains(&raw), "row {i}: {raw}");
        }
        // Features of finished rows go both ways, those of the paper do not.
        let below = rows.row(i).iter().filter(|&&value| value < 0.0).count();
        assert!(is_empty || (50..462).contains(&below), "row {i}: {below}");
    }
    assert_eq!(place.names().len(), 3);
}

#[test]
fn a_corpus_of_equal_documents_gives_sane_rows_and_is_told() {
    let place = Place::with_docs();
    place.write("same.txt", "president music band\n".repeat(256));
    let ended = place.run("embed same.txt -o same.npy --save-model same.wme");
    assert_eq!(ended.code, Some(0));
    let told = "the corpus hardly varies: 1 of 256 documents looked at are distinct";
    assert!(ended.stderr.contains(told), "{}", ended.stderr);
    place.ok("embed docs.txt --model same.wme -o docs.npy -q");
    for name in ["same.npy", "docs.npy"] {
        let rows = Rows::from_npy(&place.read(name));
        for i in 0..rows.len() {
            let length = rows.row(i).iter().map(|x| x * x).sum::<f32>().sqrt();
            assert!(length < 30.0, "{name}, row {i}: {length}");
        }
    }
}

#[test]
fn quiet_says_nothing() {
    let place = Place::with_docs();
    for quiet in ["-q", "--quiet"] {
        let ended = place.run(&format!("embed docs.txt -o docs.npy --force {quiet}"));
        assert_eq!(
            (ended.code, ended.stdout.as_str(), ended.stderr.as_str()),
            (Some(0), "", "")
        );
    }
}

#[test]
fn the_number_of_threads_changes_no_byte() {
    let place = Place::with_docs();
    for arguments in ["", " --weights tfidf --random-words vocabulary --seed 9"] {
        let runs = [1, 2, 3, 8].map(|threads| {
            let common = "embed docs.txt --features 300 --force -q";
            place.ok(&format!(
                "{common} -o x.npy --save-model x.wme --threads {threads}{arguments}"
            ));
            (place.read("x.npy"), place.read("x.wme"))
        });
        assert!(runs.iter().all(|run| *run == runs[0]), "{arguments}");
    }
    // The option may stand before the command, too.
    place.ok("--threads 2 embed docs.txt -o y.npy -q");
}

#[test]
fn seeds_and_the_other_parameters_matter() {
    let place = Place::with_docs();
    let rows = |arguments: &str| {
        let arguments = format!("embed docs.txt -o - --features 20 {arguments}");
        Rows::from_json_lines(&place.ok(arguments.trim_end()))
    };
    let plain = rows("");
    assert_eq!(
        plain,
        rows("--seed 0 --d-max 6 --gamma auto --weights nbow")
    );
    assert_eq!(plain, rows("--finish standardize --components flatten=3"));
    assert_eq!(rows("--raw"), rows("--finish raw --components keep"));
    assert_eq!(
        plain,
        rows("--random-words uniform --normalize unit --stop-words smart --case lower")
    );
    for other in [
        "--seed 1",
        "--d-max 2",
        "--gamma 2.5",
        "--gamma none",
        "--weights tfidf",
        "--weights sif",
        "--weights sif --frequencies corpus",
        "--raw",
        "--post-processing center",
        "--components keep",
        "--components remove=1",
        "--random-words uniform-centered",
        "--random-words gaussian",
        "--random-words vocabulary",
        "--normalize none",
        "--normalize center",
        "--normalize center-unit",
        "--stop-words none",
        "--case keep",
        "--max-words 2",
        "--min-count 2",
    ] {
        let rows = rows(other);
        assert_eq!(rows.len(), TEXTS.len());
        assert!(rows.values.iter().all(|value| value.is_finite()), "{other}");
        assert_ne!(rows, plain, "{other}");
    }
}

#[test]
fn standard_input_and_output_give_the_rows_of_files() {
    let place = Place::with_docs();
    let from_file = place.run("embed docs.txt -o - --features 64");
    let streamed = place.run_on(&place.read("docs.txt"), "embed - -o - --features 64");
    assert_eq!(from_file.stdout, streamed.stdout);
    assert!(!streamed.stderr.contains("wrote"));
    place.ok("embed docs.txt -o docs.npy --features 64");
    assert_eq!(
        Rows::from_npy(&place.read("docs.npy")),
        Rows::from_json_lines(&streamed.stdout)
    );
    // A last line that is not ended is a line.
    let input = lines(&TEXTS);
    let cut = place.run_on(input.trim_end().as_bytes(), "embed - -o - --features 64");
    assert_eq!(cut.stdout, streamed.stdout);
}

#[test]
fn a_model_embeds_as_the_run_that_fitted_it_and_every_document_alone() {
    let place = Place::with_docs();
    for arguments in [
        "",
        "--weights tfidf --normalize center-unit --random-words gaussian ",
    ] {
        let fit = format!("{arguments}--features 48 --seed 3 -q --force");
        place.ok(&format!("embed docs.txt -o a.npy --save-model a.wme {fit}"));
        place.ok(&format!("fit docs.txt -o b.wme {fit}"));
        assert_eq!(place.read("a.wme"), place.read("b.wme"), "{arguments}");
        place.ok("embed docs.txt -o b.npy --model a.wme -q --force");
        assert_eq!(place.read("a.npy"), place.read("b.npy"), "{arguments}");

        let rows = Rows::from_npy(&place.read("a.npy"));
        for (i, text) in TEXTS.iter().enumerate() {
            let alone = place.run_on(
                format!("{text}\n").as_bytes(),
                "embed - -o - --model a.wme -q",
            );
            let alone = Rows::from_json_lines(&alone.succeeded());
            assert_eq!((alone.len(), alone.row(0)), (1, rows.row(i)), "{text}");
        }
    }
}

#[test]
fn fewer_features_are_the_first_of_more_but_for_the_scale() {
    let place = Place::with_docs();
    let rows = |n: usize| {
        let arguments = format!("embed docs.txt -o - --raw --gamma 0.8 --features {n}");
        Rows::from_json_lines(&place.ok(&arguments))
    };
    let (few, many) = (rows(8), rows(50));
    for i in 0..TEXTS.len() {
        for j in 0..8 {
            let (a, b) = (few.row(i)[j] * 8f32.sqrt(), many.row(i)[j] * 50f32.sqrt());
            assert!((a - b).abs() < 1e-6, "row {i}, column {j}: {a} and {b}");
        }
    }
}

#[test]
fn documents_without_a_known_word_are_zero_nan_or_refused() {
    let place = Place::with_docs();
    let rows = |what: &str| {
        let ended = place.run(&format!(
            "embed docs.txt -o {what}.npy --features 5 --on-empty {what}"
        ));
        assert!(ended.stderr.contains(match what {
            "nan" => "2 documents without a known word: rows of NaN\n",
            _ => "2 documents without a known word: rows of zeros\n",
        }));
        Rows::from_npy(&place.read(&format!("{what}.npy")))
    };
    let (zero, nan) = (rows("zero"), rows("nan"));
    for i in 0..TEXTS.len() {
        if i == 3 || i == 4 {
            assert!(zero.row(i).iter().all(|&value| value == 0.0));
            assert!(nan.row(i).iter().all(|value| value.is_nan()));
        } else {
            assert_eq!(zero.row(i), nan.row(i));
        }
    }
    place
        .run("embed docs.txt -o error.npy --on-empty error --save-model model.wme")
        .failed(1, "docs.txt: document 4 has no word that the vectors know");
    let names: Vec<String> = place.names().into_iter().collect();
    assert_eq!(names, ["docs.txt", "nan.npy", "zero.npy"]);
}

#[test]
fn an_empty_input_is_refused_and_a_blank_document_only_by_a_fit() {
    let place = Place::with_docs();
    place.ok("fit docs.txt -o model.wme --features 4");
    place.write("empty.txt", "");
    place.write("blank.txt", "\n");
    place
        .run("embed empty.txt --model model.wme -o empty.npy")
        .failed(1, "empty.txt holds no documents");
    assert!(!place.names().contains("empty.npy"));
    let blank = place.ok("embed blank.txt --model model.wme -o -");
    assert_eq!(blank, "{\"id\":0,\"embedding\":[0.0,0.0,0.0,0.0]}\n");

    for (command, output) in [("embed", "x.npy"), ("fit", "x.wme")] {
        place
            .run(&format!("{command} empty.txt -o {output}"))
            .failed(1, "empty.txt holds no documents");
        place.run(&format!("{command} blank.txt -o {output}")).failed(
            1,
            "blank.txt holds nothing to fit on: no word that minilm-160d-81k knows, apart from stop words",
        );
    }
    place
        .run_on(b"the of and\n", "embed - -o x.npy --min-count 3")
        .failed(
            1,
            "standard input holds nothing to fit on: no word that minilm-160d-81k knows, \
             apart from stop words and those that occur less than 3 times",
        );
}

#[test]
fn long_documents_are_cut_and_that_is_said() {
    let place = Place::new();
    place.write("docs.txt", "cat dog cat king queen\nking\n");
    let ended = place.run("embed docs.txt -o - --features 9 --max-words 1");
    assert!(
        ended
            .stderr
            .contains("1 document cut to the 1 most frequent distinct words\n"),
        "{}",
        ended.stderr
    );
}

#[test]
fn a_file_is_replaced_only_if_told() {
    let place = Place::with_docs();
    place.write("docs.npy", "precious");
    place
        .run("embed docs.txt -o docs.npy")
        .failed(1, "docs.npy exists; pass --force to replace it");
    assert_eq!(place.read("docs.npy"), b"precious");
    place.ok("embed docs.txt -o docs.npy --force");
    assert_eq!(Rows::from_npy(&place.read("docs.npy")).len(), 7);

    place.write("model.wme", "precious");
    place
        .run("embed docs.txt -o other.npy --save-model model.wme")
        .failed(1, "model.wme exists; pass --force to replace it");
    assert!(!place.names().contains("other.npy"));
}

#[test]
fn without_a_gpu_cuda_is_refused_in_one_sentence_and_auto_is_the_cpu() {
    let place = Place::with_docs();
    place.ok("embed docs.txt -o cpu.npy");
    let ended = place.run("embed docs.txt -o cuda.npy --device cuda");
    match ended.code {
        // There is a GPU: nothing to refuse.
        Some(0) => {}
        code => {
            assert_eq!(code, Some(1));
            let message = "error: no CUDA driver is installed on this machine\n";
            assert!(ended.stderr.ends_with(message), "{}", ended.stderr);
            place.ok("embed docs.txt -o auto.npy --device auto");
            assert!(place.read("auto.npy") == place.read("cpu.npy"));
        }
    }
}
