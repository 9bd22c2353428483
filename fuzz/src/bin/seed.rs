//! Writes the seeds of every target to `corpus/<target>/seed-<name>`.

fn main() -> std::io::Result<()> {
    for (target, _) in wordmover_fuzz::TARGETS {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("corpus")
            .join(target);
        std::fs::create_dir_all(&folder)?;
        for (name, bytes) in wordmover_fuzz::seeds::of(target) {
            std::fs::write(folder.join(format!("seed-{name}")), bytes)?;
        }
    }
    Ok(())
}
