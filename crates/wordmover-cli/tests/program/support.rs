//! Running the program, and reading what it writes without its own code.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use flate2::Compression;
use flate2::write::GzEncoder;
use tempfile::TempDir;

/// One document a line: ordinary ones, an empty one, and one without a known word.
pub const TEXTS: [&str; 7] = [
    "Obama speaks to the media in Illinois",
    "The president greets the press in Chicago",
    "A cat, a dog and \"another\" cat sat on the mat",
    "",
    "ᚱᚢᚾ ᚾᚢᚱ",
    "Café owners in Paris sell bread, wine and cheese",
    "Physics students in Chicago read books about quantum mechanics; teachers write them",
];

/// The words `TEXTS` and a few others may use, with vectors of three numbers.
pub const GLOVE: &str = "obama 0.9 0.1 0.0\npresident 0.8 0.2 0.1\nmedia 0.1 0.9 0.0\n\
                         press 0.2 0.8 0.1\nillinois 0.0 0.1 0.9\nchicago 0.1 0.0 0.8\n\
                         cat -0.5 0.5 0.1\ndog -0.6 0.4 0.2\n";

/// A directory to run the program in.
pub struct Place {
    directory: TempDir,
}

/// How a run ended.
#[derive(Debug)]
pub struct Ended {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Place {
    pub fn new() -> Place {
        Place {
            directory: tempfile::tempdir().unwrap(),
        }
    }

    /// With `docs.txt` in it.
    pub fn with_docs() -> Place {
        let place = Place::new();
        place.write("docs.txt", lines(&TEXTS));
        place
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        fs::write(self.path(name), bytes).unwrap();
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    pub fn read_text(&self, name: &str) -> String {
        String::from_utf8(self.read(name)).unwrap()
    }

    /// What is in the directory, hidden files included.
    pub fn names(&self) -> BTreeSet<String> {
        fs::read_dir(self.directory.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect()
    }

    /// The program, about to run here with nothing on its standard input.
    pub fn command<'a>(&self, arguments: impl IntoIterator<Item = &'a str>) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_wordmover"));
        command
            .args(arguments)
            .current_dir(self.directory.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Runs the program; the arguments are separated by spaces.
    pub fn run(&self, arguments: &str) -> Ended {
        self.run_with(&arguments.split(' ').collect::<Vec<_>>())
    }

    /// Runs the program with arguments that may hold spaces.
    pub fn run_with(&self, arguments: &[&str]) -> Ended {
        let child = self.command(arguments.iter().copied()).spawn().unwrap();
        wait(child)
    }

    /// Runs the program with this on its standard input.
    pub fn run_on(&self, input: &[u8], arguments: &str) -> Ended {
        let mut child = self
            .command(arguments.split(' '))
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        // A program that refuses its arguments never reads.
        let _ = child.stdin.take().unwrap().write_all(input);
        wait(child)
    }

    /// Runs the program, which must succeed, and returns its standard output.
    pub fn ok(&self, arguments: &str) -> String {
        self.run(arguments).succeeded()
    }
}

pub fn wait(child: Child) -> Ended {
    let output = child.wait_with_output().unwrap();
    Ended {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

impl Ended {
    /// The standard output of a run that must have succeeded.
    #[track_caller]
    pub fn succeeded(self) -> String {
        assert_eq!(self.code, Some(0), "{self:?}");
        self.stdout
    }

    /// Asserts that the run failed with this code and this one sentence and nothing else.
    #[track_caller]
    pub fn failed(self, code: i32, sentence: &str) {
        assert_eq!(
            (self.code, self.stdout.as_str(), self.stderr.as_str()),
            (Some(code), "", format!("error: {sentence}\n").as_str())
        );
    }
}

pub fn lines(texts: &[&str]) -> String {
    texts.iter().map(|text| format!("{text}\n")).collect()
}

pub fn gzip(bytes: impl AsRef<[u8]>) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes.as_ref()).unwrap();
    encoder.finish().unwrap()
}

/// Rows of numbers, as written.
#[derive(Debug, Clone, PartialEq)]
pub struct Rows {
    pub n_columns: usize,
    pub values: Vec<f32>,
}

impl Rows {
    /// By the definition of the format.
    pub fn from_npy(bytes: &[u8]) -> Rows {
        assert_eq!(&bytes[..8], b"\x93NUMPY\x01\x00");
        let length = usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
        let (header, data) = bytes[10..].split_at(length);
        let header = std::str::from_utf8(header).unwrap().trim_end();
        let shape = header
            .strip_prefix("{'descr': '<f4', 'fortran_order': False, 'shape': (")
            .and_then(|rest| rest.strip_suffix("), }"))
            .unwrap();
        let (n_rows, n_columns) = shape.split_once(", ").unwrap();
        let rows = Rows {
            n_columns: n_columns.parse().unwrap(),
            values: data
                .chunks(4)
                .map(|value| f32::from_le_bytes(value.try_into().unwrap()))
                .collect(),
        };
        assert_eq!(
            rows.values.len() / rows.n_columns,
            n_rows.parse::<usize>().unwrap()
        );
        rows
    }

    /// Of what `-o -` prints; the ids must be the row numbers.
    pub fn from_json_lines(text: &str) -> Rows {
        let mut rows = Rows {
            n_columns: 0,
            values: Vec::new(),
        };
        for (i, line) in text.lines().enumerate() {
            let row: serde_json::Value = serde_json::from_str(line).unwrap();
            assert_eq!(row["id"], i);
            let values = row["embedding"].as_array().unwrap();
            rows.n_columns = values.len();
            let number = |value: &serde_json::Value| value.as_f64().unwrap_or(f64::NAN) as f32;
            rows.values.extend(values.iter().map(number));
        }
        rows
    }

    pub fn len(&self) -> usize {
        self.values.len() / self.n_columns
    }

    pub fn row(&self, i: usize) -> &[f32] {
        &self.values[i * self.n_columns..][..self.n_columns]
    }
}
