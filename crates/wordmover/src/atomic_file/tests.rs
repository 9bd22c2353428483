//! What is there at every moment, and what is left.

use tempfile::TempDir;

use super::*;

fn names_in(folder: &TempDir) -> Vec<String> {
    let entries = fs::read_dir(folder.path()).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

fn save(path: &Path, replace: bool, text: &str) -> io::Result<()> {
    let mut file = AtomicFile::create(path, replace)?;
    file.write_all(text.as_bytes())?;
    Ok(file.commit()?)
}

#[test]
fn a_file_appears_under_its_name_only_when_committed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.wme");
    let mut file = AtomicFile::create(&path, false).unwrap();
    file.write_all(b"xxxxx, world").unwrap();
    file.seek(SeekFrom::Start(0)).unwrap();
    file.write_all(b"hello").unwrap();

    let names = names_in(&folder);
    assert_eq!(names.len(), 1);
    assert!(
        names[0].starts_with(".model.wme.") && names[0].ends_with(".part"),
        "{names:?}"
    );
    file.commit().unwrap();
    assert_eq!(names_in(&folder), ["model.wme"]);
    assert_eq!(fs::read(&path).unwrap(), b"hello, world");
}

#[test]
fn a_dropped_file_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut file = AtomicFile::create(&folder.path().join("model.wme"), false).unwrap();
    file.write_all(&[0; 1 << 20]).unwrap();
    drop(file);
    assert!(names_in(&folder).is_empty());
}

#[test]
fn a_failed_write_leaves_what_was_there() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.wme");
    fs::write(&path, "old").unwrap();
    let failed = write(&path, |out| {
        out.write_all(b"new")?;
        Err(io::ErrorKind::StorageFull.into())
    });
    assert_eq!(failed.unwrap_err().kind(), io::ErrorKind::StorageFull);
    assert_eq!(fs::read_to_string(&path).unwrap(), "old");
    write(&path, |out| out.write_all(b"new")).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "new");
    assert_eq!(names_in(&folder), ["model.wme"]);
}

#[test]
fn a_file_that_exists_is_left_alone_unless_it_may_be_replaced_and_the_work_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("docs.npy");
    let mut file = AtomicFile::create(&path, false).unwrap();
    file.write_all(b"ours").unwrap();
    fs::write(&path, "theirs").unwrap();

    let Err(CommitError::Exists { kept: Some(kept) }) = file.commit() else {
        panic!("the file was replaced");
    };
    assert_eq!(fs::read_to_string(&path).unwrap(), "theirs");
    assert_eq!(fs::read_to_string(&kept).unwrap(), "ours");
    // What was kept is finished: the next file removes nothing of it.
    save(&path, true, "new").unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "new");
    assert_eq!(fs::read_to_string(&kept).unwrap(), "ours");
    assert_eq!(names_in(&folder).len(), 2);
}

#[test]
fn an_abandoned_file_is_removed_by_the_next_one_of_the_same_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("docs.npy");
    let living = AtomicFile::create(&path, false).unwrap();
    // As after `kill -9`: nobody holds its lock.
    fs::write(folder.path().join(".docs.npy.aaaaaa.part"), "half").unwrap();
    fs::write(folder.path().join(".other.npy.aaaaaa.part"), "half").unwrap();
    save(&path, false, "whole").unwrap();
    let names = names_in(&folder);
    assert_eq!(names.len(), 3, "{names:?}");
    assert!(!names.contains(&".docs.npy.aaaaaa.part".to_owned()));
    drop(living);
    assert_eq!(names_in(&folder), [".other.npy.aaaaaa.part", "docs.npy"]);
}

#[test]
fn many_writers_of_one_target_do_not_disturb_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("docs.npy");
    std::thread::scope(|scope| {
        for writer in 0..8 {
            let path = &path;
            scope.spawn(move || {
                for _ in 0..50 {
                    save(path, true, &format!("{writer}").repeat(100)).unwrap();
                }
            });
        }
    });
    assert_eq!(names_in(&folder), ["docs.npy"]);
    assert_eq!(fs::read(&path).unwrap().len(), 100);
}

#[test]
fn an_interrupt_removes_the_file_and_forbids_to_commit_it() {
    let unfinished: &'static Unfinished = Box::leak(Box::new(Unfinished::new()));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("docs.npy");
    let file = AtomicFile::create_in(unfinished, &path, true).unwrap();
    unfinished.remove_all();
    assert!(names_in(&folder).is_empty());
    let error = file.commit().unwrap_err();
    assert_eq!(error.to_string(), "the program was interrupted");
    assert!(names_in(&folder).is_empty());
}

#[cfg(unix)]
mod on_unix {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o7777
    }

    #[test]
    fn a_new_file_has_the_permissions_of_any_other_new_file() {
        let folder = tempfile::tempdir().unwrap();
        let ordinary = folder.path().join("ordinary");
        fs::write(&ordinary, "x").unwrap();
        for replace in [false, true] {
            let path = folder.path().join(format!("{replace}.npy"));
            save(&path, replace, "x").unwrap();
            assert_eq!(mode(&path), mode(&ordinary));
        }
    }

    #[test]
    fn a_replaced_file_keeps_its_permissions() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("docs.npy");
        save(&path, false, "old").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        save(&path, true, "new").unwrap();
        assert_eq!(mode(&path), 0o640);
    }

    #[test]
    fn a_link_is_written_through() {
        let folder = tempfile::tempdir().unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        let real = elsewhere.path().join("real.npy");
        fs::write(&real, "old").unwrap();
        let link = folder.path().join("docs.npy");
        symlink(&real, &link).unwrap();

        save(&link, true, "new").unwrap();
        assert!(link.is_symlink());
        assert_eq!(fs::read_to_string(&real).unwrap(), "new");
    }

    #[test]
    fn a_name_of_the_greatest_length_can_be_written() {
        let folder = tempfile::tempdir().unwrap();
        let name = format!("{}.npy", "n".repeat(251));
        save(&folder.path().join(&name), false, "x").unwrap();
        assert_eq!(names_in(&folder), [name]);
    }
}
