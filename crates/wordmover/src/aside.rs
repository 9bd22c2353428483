//! Writing a file so that it is there whole or not at all.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// Writes a file beside its destination, then moves it there.
pub(crate) fn write_aside(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<&File>) -> io::Result<()>,
) -> io::Result<()> {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    {
        // Temporary files are private; this one is to become an ordinary file,
        // with the permissions that the user's umask leaves.
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    let aside = builder.tempfile_in(folder.unwrap_or(Path::new(".")))?;
    let mut out = BufWriter::with_capacity(1 << 20, aside.as_file());
    write(&mut out)?;
    out.flush()?;
    drop(out);
    aside.as_file().sync_all()?;
    aside.persist(path).map_err(|error| error.error)?;
    Ok(())
}
