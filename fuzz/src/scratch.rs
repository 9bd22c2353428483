//! A file for parsers that take a path, in memory where the system has a place for that.

use std::path::{Path, PathBuf};

/// Hands `body` the path of a file with these bytes and this suffix.
pub fn with_file<T>(bytes: &[u8], suffix: &str, body: impl FnOnce(&Path) -> T) -> T {
    thread_local! {
        static FOLDER: PathBuf = {
            let shared = Path::new("/dev/shm");
            let parent = if shared.is_dir() { shared.to_owned() } else { std::env::temp_dir() };
            let thread = format!("{:?}", std::thread::current().id());
            let number = thread.replace(|c: char| !c.is_ascii_digit(), "");
            let folder = parent.join(format!("wordmover-fuzz-{}-{number}", std::process::id()));
            std::fs::create_dir_all(&folder).expect("a folder for scratch files");
            folder
        };
    }
    let path = FOLDER.with(|folder| folder.join(format!("file{suffix}")));
    std::fs::write(&path, bytes).expect("a scratch file");
    let result = body(&path);
    std::fs::remove_file(&path).expect("the scratch file");
    result
}

/// Removes the folder of this process.
pub fn clean() {
    for parent in [PathBuf::from("/dev/shm"), std::env::temp_dir()] {
        let prefix = format!("wordmover-fuzz-{}-", std::process::id());
        for entry in std::fs::read_dir(parent).into_iter().flatten().flatten() {
            if entry.file_name().to_string_lossy().starts_with(&prefix) {
                let _ = std::fs::remove_dir_all(entry.path());
            }
        }
    }
}
