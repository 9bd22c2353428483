//! The same texts in every input format, the same rows in every output format.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Int64Type};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::json;

use crate::support::{Place, Rows, TEXTS, gzip, lines};

/// Files that hold `TEXTS`, and the options to read them with.
fn inputs() -> Vec<(&'static str, String, &'static str)> {
    let numbered = || TEXTS.iter().enumerate();
    let tsv: String = numbered()
        .map(|(i, text)| format!("doc{i}\t{text}\t{i}\n"))
        .collect();
    let csv: String = numbered()
        .map(|(i, text)| format!("doc{i},\"{}\"\r\n", text.replace('"', "\"\"")))
        .collect();
    let jsonl: String = numbered()
        .map(|(i, text)| {
            format!(
                "{}\n",
                json!({"n": i, "body": text, "key": format!("doc{i}")})
            )
        })
        .collect();
    vec![
        ("docs.txt", lines(&TEXTS), ""),
        ("docs.tsv", format!("key\ttext\tn\n{tsv}"), " --column text"),
        ("plain.tsv", tsv, " --column 2 --no-header"),
        ("docs.csv", format!("key,text\r\n{csv}"), " --column text"),
        ("docs.jsonl", jsonl, " --field body"),
        (
            "docs.ndjson",
            format!("{}\n", json!({"body": TEXTS[0]})),
            " --field body",
        ),
    ]
}

#[test]
fn every_input_format_gives_the_same_rows_gzipped_or_piped() {
    let place = Place::with_docs();
    let wanted = place.ok("embed docs.txt -o - --features 32");
    for (name, content, options) in inputs() {
        if name == "docs.ndjson" {
            continue;
        }
        place.write(name, &content);
        let zipped = format!("{name}.gz");
        place.write(&zipped, gzip(&content));
        let format = match name.rsplit_once('.').unwrap().1 {
            "txt" => "text",
            suffix => suffix,
        };
        for file in [name, &zipped] {
            let rows = place.ok(&format!("embed {file} -o - --features 32{options}"));
            assert_eq!(rows, wanted, "{file}");
        }
        let arguments = format!("embed - -o - --features 32 --format {format}{options}");
        for bytes in [content.as_bytes(), &gzip(&content)] {
            let rows = place.run_on(bytes, &arguments).succeeded();
            assert_eq!(rows, wanted, "{name} piped");
        }
    }
}

#[test]
fn a_table_of_one_column_needs_no_name_and_its_blank_lines_are_documents() {
    let place = Place::new();
    place.write("docs.tsv", "text\nA cat\n\nA dog\n");
    let rows = place.ok("embed docs.tsv -o - --features 2");
    assert_eq!(Rows::from_json_lines(&rows).len(), 3);
}

#[test]
fn ids_come_along() {
    let place = Place::new();
    for (name, content, options) in inputs() {
        let id_column = match name {
            "docs.txt" | "docs.ndjson" => continue,
            "plain.tsv" => "1",
            _ => "key",
        };
        place.write(name, content);
        let rows = place.ok(&format!(
            "embed {name} -o - --features 2{options} --id-column {id_column}"
        ));
        let ids: Vec<String> = rows
            .lines()
            .map(|line| {
                let row: serde_json::Value = serde_json::from_str(line).unwrap();
                row["id"].as_str().unwrap().to_owned()
            })
            .collect();
        let wanted: Vec<String> = (0..TEXTS.len()).map(|i| format!("doc{i}")).collect();
        assert_eq!(ids, wanted, "{name}");
    }
}

#[test]
fn more_documents_than_are_held_at_once_keep_their_order() {
    let words = ["cat", "dog", "king", "ᚠᚢᚦ", "queen"];
    let n_documents = 9001;
    let place = Place::new();
    let table: String = (0..n_documents)
        .map(|i| format!("doc{i},{}\n", words[i % words.len()]))
        .collect();
    place.write("docs.csv", table);
    let common = "embed docs.csv --no-header --column 2 --id-column 1 -o -";
    let fitted = place.ok(&format!("{common} --features 3 --save-model model.wme"));
    assert_eq!(place.ok(&format!("{common} --model model.wme")), fitted);
    let rows: Vec<serde_json::Value> = fitted
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(rows.len(), n_documents);
    for (i, row) in rows.iter().enumerate() {
        assert_eq!(row["id"], format!("doc{i}"));
        assert_eq!(row["embedding"], rows[i % words.len()]["embedding"]);
    }
    assert_ne!(rows[0]["embedding"], rows[1]["embedding"]);
}

#[test]
fn the_contract_s_parquet_holds_the_rows_and_ids_of_the_other_formats() {
    let place = Place::new();
    let (name, content, _) = &inputs()[1];
    place.write(name, content);
    let common = "--column text --features 1024 --d-max 6 --weights tfidf --seed 7 --threads 2 -q";
    for output in ["docs.parquet", "docs.npy", "docs.jsonl", "docs.csv"] {
        let printed = place.ok(&format!("embed docs.tsv {common} -o {output}"));
        assert_eq!(printed, "");
    }
    let wanted = Rows::from_npy(&place.read("docs.npy"));
    assert_eq!((wanted.len(), wanted.n_columns), (7, 1024));

    assert_eq!(
        Rows::from_json_lines(&place.read_text("docs.jsonl")),
        wanted
    );

    let mut values = Vec::new();
    for (i, line) in place.read_text("docs.csv").lines().enumerate() {
        let mut fields = line.split(',');
        match i {
            0 => {
                assert_eq!((fields.next(), fields.next()), (Some("id"), Some("f0")));
                assert_eq!(fields.next_back(), Some("f1023"));
            }
            _ => {
                assert_eq!(fields.next(), Some((i - 1).to_string().as_str()));
                values.extend(fields.map(|field| field.parse::<f32>().unwrap()));
            }
        }
    }
    assert_eq!(values, wanted.values);

    let table = read_parquet(&place, "docs.parquet");
    assert_eq!(
        table
            .column(0)
            .as_primitive::<Int64Type>()
            .values()
            .to_vec(),
        (0..7).collect::<Vec<i64>>()
    );
    assert_eq!(embeddings(&table), wanted.values);

    place.ok(&format!(
        "embed docs.tsv {common} -o named.parquet --id-column key"
    ));
    let table = read_parquet(&place, "named.parquet");
    let ids: Vec<&str> = table
        .column(0)
        .as_string::<i32>()
        .iter()
        .flatten()
        .collect();
    assert_eq!(
        ids,
        ["doc0", "doc1", "doc2", "doc3", "doc4", "doc5", "doc6"]
    );
    assert_eq!(embeddings(&table), wanted.values);
}

fn read_parquet(place: &Place, name: &str) -> arrow_array::RecordBatch {
    let file = std::fs::File::open(place.path(name)).unwrap();
    let reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
    let mut batches = reader.build().unwrap();
    let table = batches.next().unwrap().unwrap();
    assert!(batches.next().is_none());
    assert_eq!(
        table
            .schema()
            .fields()
            .iter()
            .map(|field| field.name().as_str())
            .collect::<Vec<_>>(),
        ["id", "embedding"]
    );
    table
}

fn embeddings(table: &arrow_array::RecordBatch) -> Vec<f32> {
    let lists = table.column(1).as_fixed_size_list();
    lists
        .values()
        .as_primitive::<Float32Type>()
        .values()
        .to_vec()
}
