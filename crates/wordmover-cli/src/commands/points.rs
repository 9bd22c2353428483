//! `wordmover points embed`: sets of vectors to embeddings.

use std::ops::ControlFlow;
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};
use wordmover::embedding::EmbeddingStatistics;
use wordmover::points::{PointSetEmbedding, PointSets};

use crate::args::{PointsCommand, PointsEmbedArguments};
use crate::input::npz::{self, Array, Values};
use crate::output::{Destination, Ids, check_outputs};
use crate::progress::{self, say};
use crate::usage::usage_error;

pub fn run(command: &PointsCommand, quiet: bool) -> Result<()> {
    match command {
        PointsCommand::Embed(arguments) => embed(arguments, quiet),
    }
}

fn embed(arguments: &PointsEmbedArguments, quiet: bool) -> Result<()> {
    let (path, force) = (&arguments.sets, arguments.writing.force);
    let destination = Destination::new(arguments.output.as_deref(), force)?;
    let outputs = [("--output", destination.path())];
    check_outputs(&outputs, &[Some(path.as_path())], force)?;
    if path.extension().is_some_and(|suffix| suffix == "parquet") {
        return Err(usage_error(format!(
            "{}: Parquet files are read by the Python package (WassersteinEmbedding.embed_arrow); \
             this command reads .npz files",
            path.display()
        )));
    }
    let sets = read(path)?;
    let params = arguments.params();
    let rows = progress::while_working(quiet, "embedding", || -> Result<Vec<f32>> {
        let model = PointSetEmbedding::fit(params, &sets).map_err(|error| anyhow!(error))?;
        let mut rows = vec![0.0; sets.len() * model.n_features()];
        let progress = &mut |_: &EmbeddingStatistics| ControlFlow::Continue(());
        model.transform_into(&sets, &mut rows, progress)?;
        Ok(rows)
    })?;
    let mut writer = destination.create(params.n_features, Ids::RowNumbers)?;
    writer.write_rows(None, &rows)?;
    let n = writer.finish()?;
    if !quiet {
        say(&format!("{n} sets of points of dimension {}", sets.dim()));
    }
    Ok(())
}

/// The sets of a file: `points` cut at `offsets`, perhaps with `weights`; or else every array.
fn read(path: &Path) -> Result<PointSets> {
    let arrays = npz::read(path)?;
    let name = path.display();
    let array = |wanted: &str| arrays.iter().find(|array| array.name == wanted);
    let Some(offsets) = array("offsets") else {
        let mut sets = None;
        for array in &arrays {
            let (dim, points) = points(array).with_context(|| name.to_string())?;
            let sets = match &mut sets {
                None => sets.insert(PointSets::new(dim)?),
                Some(sets) if sets.dim() == dim => sets,
                Some(sets) => bail!(
                    "{name}: the points of {} have dimension {dim}, not {}",
                    array.name,
                    sets.dim()
                ),
            };
            let pushed = sets.push(&points, None);
            pushed.with_context(|| format!("{name}: {}", array.name))?;
        }
        return sets.with_context(|| format!("{name} holds no arrays"));
    };
    let all = array("points").with_context(|| format!("{name} has offsets but no points"))?;
    let (dim, points) = points(all).with_context(|| name.to_string())?;
    let n_points = points.len() / dim.max(1);
    let ends = match &offsets.values {
        Values::Integers(ends) if offsets.shape.len() == 1 => ends,
        _ => bail!("{name}: offsets must be integers in one dimension"),
    };
    let in_order =
        ends.first() == Some(&0) && ends.last() == Some(&(n_points as i64)) && ends.is_sorted();
    if !in_order {
        bail!("{name}: offsets must ascend from 0 to the number of points, {n_points}");
    }
    let weights = match array("weights").map(|weights| (&weights.values, weights.shape.as_slice()))
    {
        None => None,
        Some((Values::Floats(weights), [n])) if *n == n_points => Some(weights),
        Some(_) => bail!("{name}: weights must be {n_points} floats, one for each point"),
    };
    let mut sets = PointSets::new(dim)
        .map_err(|error| anyhow!(error))
        .context(name.to_string())?;
    for range in ends.windows(2) {
        let (start, end) = (range[0] as usize, range[1] as usize);
        let weights = weights.map(|weights| &weights[start..end]);
        let pushed = sets.push(&points[start * dim..end * dim], weights);
        pushed.with_context(|| name.to_string())?;
    }
    Ok(sets)
}

/// The dimension and the values of an array of points.
fn points(array: &Array) -> Result<(usize, Vec<f32>)> {
    match (&array.values, array.shape.as_slice()) {
        (Values::Floats(values), &[_, dim]) => {
            Ok((dim, values.iter().map(|&x| x as f32).collect()))
        }
        (_, shape) => bail!(
            "{} has {} dimensions: points are floats in two, a point a row",
            array.name,
            shape.len()
        ),
    }
}
