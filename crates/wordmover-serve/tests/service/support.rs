//! A server on a free port, and a client that can misbehave.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::Value;
use wordmover::{EmbeddingParams, WordMoversEmbedding, WordVectors};
use wordmover_serve::{ServeParams, Server, Stop};

pub const TEXTS: [&str; 4] = [
    "Obama speaks to the media in Illinois",
    "The president greets the press in Chicago",
    "The band gave a concert in Japan",
    "A cat sat on the mat",
];

/// A small model, fitted once for all tests.
pub fn model() -> &'static WordMoversEmbedding {
    static MODEL: OnceLock<WordMoversEmbedding> = OnceLock::new();
    MODEL.get_or_init(|| fit(0))
}

pub fn fit(seed: u64) -> WordMoversEmbedding {
    let mut params = EmbeddingParams::default().n_features(32);
    params.seed = seed;
    let vectors = Arc::new(WordVectors::builtin());
    WordMoversEmbedding::fit(params, vectors, &TEXTS).unwrap()
}

pub struct Running {
    pub address: SocketAddr,
    pub folder: tempfile::TempDir,
    stop: Stop,
    thread: Option<JoinHandle<Result<(), wordmover_serve::Error>>>,
    log: Mutex<Receiver<String>>,
}

/// A server with the small model in a file; `change` sets what is to be otherwise.
pub fn start(change: impl FnOnce(&mut ServeParams, &Path)) -> Running {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("small.wme");
    model().save(&path, false).unwrap();
    let mut params = ServeParams::new(([127, 0, 0, 1], 0).into());
    params.sources.model = Some(path);
    change(&mut params, folder.path());
    let (lines, log) = channel();
    let sink = Box::new(move |line: &str| drop(lines.send(line.to_owned())));
    let server = Server::bind(params, sink).unwrap();
    let running = Running {
        address: server.address(),
        folder,
        stop: server.stopper(),
        thread: Some(std::thread::spawn(move || server.run())),
        log: Mutex::new(log),
    };
    running.wait_for_line("ready");
    running
}

/// One server for the tests that change nothing about it.
pub fn shared() -> &'static Running {
    static SHARED: OnceLock<Running> = OnceLock::new();
    SHARED.get_or_init(|| start(|_, _| ()))
}

impl Running {
    pub fn model_file(&self) -> PathBuf {
        self.folder.path().join("small.wme")
    }

    /// The first line of the log from here on that has this in it.
    pub fn wait_for_line(&self, part: &str) -> String {
        let log = self.log.lock().unwrap();
        loop {
            let line = log
                .recv_timeout(Duration::from_secs(60))
                .unwrap_or_else(|_| panic!("no line with {part:?}"));
            if line.contains(part) {
                return line;
            }
        }
    }

    pub fn reload(&self) {
        self.stop.reload();
    }

    pub fn begin_to_stop(&self) {
        self.stop.stop();
    }

    /// Ends the server and waits for that.
    pub fn stop(mut self) {
        self.stop.stop();
        self.thread.take().unwrap().join().unwrap().unwrap();
    }

    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(60)))
            .unwrap();
        stream
    }

    pub fn get(&self, path: &str) -> Answer {
        self.send("GET", path, &[], b"")
    }

    pub fn post(&self, path: &str, body: &Value) -> Answer {
        self.post_bytes(path, body.to_string().as_bytes())
    }

    pub fn post_bytes(&self, path: &str, body: &[u8]) -> Answer {
        self.send("POST", path, &["Content-Type: application/json"], body)
    }

    pub fn send(&self, method: &str, path: &str, headers: &[&str], body: &[u8]) -> Answer {
        let mut stream = self.connect();
        let mut head = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
        if !headers.iter().any(|header| header.starts_with("Host:")) {
            head += "Host: localhost\r\n";
        }
        for header in headers {
            head += header;
            head += "\r\n";
        }
        if method == "POST" {
            head += &format!("Content-Length: {}\r\n", body.len());
        }
        head += "\r\n";
        stream.write_all(head.as_bytes()).unwrap();
        // The server may have answered and closed before it has read everything.
        let _ = stream.write_all(body);
        Answer::read(&mut stream)
    }

    /// A number of /metrics.
    pub fn metric(&self, name: &str) -> f64 {
        let page = self.get("/metrics").text();
        let line = page
            .lines()
            .find(|line| line.starts_with(&format!("{name} ")));
        line.unwrap().split_once(' ').unwrap().1.parse().unwrap()
    }

    pub fn wait_for_metric(&self, name: &str, is: impl Fn(f64) -> bool) {
        let start = Instant::now();
        while !is(self.metric(name)) {
            assert!(start.elapsed() < Duration::from_secs(60), "{name}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub head: String,
    pub body: Vec<u8>,
}

impl Answer {
    /// Reads until the server closes.
    pub fn read(stream: &mut TcpStream) -> Answer {
        let mut all = Vec::new();
        let _ = stream.read_to_end(&mut all);
        Answer::parse(&all)
            .unwrap_or_else(|| panic!("no answer: {:?}", String::from_utf8_lossy(&all)))
    }

    pub fn parse(all: &[u8]) -> Option<Answer> {
        let end = all.windows(4).position(|four| four == b"\r\n\r\n")?;
        let head = String::from_utf8(all[..end].to_vec()).ok()?;
        let status = head.split(' ').nth(1)?.parse().ok()?;
        Some(Answer {
            status,
            head: head.to_lowercase(),
            body: all[end + 4..].to_vec(),
        })
    }

    pub fn text(&self) -> String {
        String::from_utf8(self.body.clone()).unwrap()
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("no JSON: {}", self.text()))
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().skip(1);
        let mut pairs = lines.filter_map(|line| line.split_once(": "));
        pairs.find(|(key, _)| *key == name).map(|(_, value)| value)
    }

    /// The error of the answer, which must have all its four fields; its message.
    pub fn error(&self, status: u16) -> (String, Value) {
        assert_eq!(self.status, status, "{}", self.text());
        let said = self.json();
        let error = said["error"].as_object().unwrap();
        let mut names: Vec<&str> = error.keys().map(String::as_str).collect();
        names.sort_unstable();
        assert_eq!(names, ["code", "message", "param", "type"]);
        let message = error["message"].as_str().unwrap().to_owned();
        assert!(!message.is_empty() && !message.contains('\n'));
        (message, said["error"].clone())
    }
}
