//! Accuracy by R and by D_max, a panel for each corpus.

use std::path::Path;

use anyhow::{Result, anyhow};
use plotters::coord::Shift;
use plotters::prelude::*;

use crate::{comparison, lengths};

const COLUMNS: usize = 3;
const PANEL: (u32, u32) = (300, 220);
const TEST: RGBColor = RGBColor(0, 90, 160);
const TRAIN: RGBColor = RGBColor(190, 110, 20);

/// One panel: points of abscissa, training accuracy and test accuracy.
struct Panel {
    name: String,
    points: Vec<(f64, f64, f64)>,
}

/// Figure 2: by the number of features.
pub fn features(path: &Path, records: &[comparison::Record]) -> Result<()> {
    let panels = records.iter().map(|record| {
        let points = record
            .definition
            .features
            .iter()
            .enumerate()
            .map(|(i, &n)| {
                let of_splits = record.splits.iter().map(|split| &split.curve[i]);
                let n_splits = record.splits.len() as f64;
                let (train, test) = of_splits.fold((0.0, 0.0), |(train, test), point| {
                    (train + point.train_accuracy, test + point.accuracy)
                });
                ((n as f64).log2(), train / n_splits, test / n_splits)
            });
        Panel {
            name: record.corpus.name.clone(),
            points: points.collect(),
        }
    });
    let label = |x: f64| format!("{}", x.exp2().round());
    draw(path, panels.collect(), "R", &label)
}

/// Figure 3: by the greatest length of random documents.
pub fn lengths(path: &Path, records: &[lengths::Record]) -> Result<()> {
    let panels = records.iter().map(|record| {
        let points = record.points.iter().map(|point| {
            let accuracies = &point.point;
            (
                point.d_max as f64,
                accuracies.train_accuracy,
                accuracies.accuracy,
            )
        });
        Panel {
            name: record.corpus.name.clone(),
            points: points.collect(),
        }
    });
    draw(path, panels.collect(), "D_max", &|x| format!("{x}"))
}

fn draw(
    path: &Path,
    panels: Vec<Panel>,
    abscissa: &str,
    label: &dyn Fn(f64) -> String,
) -> Result<()> {
    let rows = panels.len().div_ceil(COLUMNS);
    let size = (PANEL.0 * COLUMNS as u32, PANEL.1 * rows as u32);
    let area = SVGBackend::new(path, size).into_drawing_area();
    let drawn = || -> Result<(), Box<dyn std::error::Error>> {
        area.fill(&WHITE)?;
        for (area, panel) in area.split_evenly((rows, COLUMNS)).iter().zip(&panels) {
            draw_panel(area, panel, abscissa, label)?;
        }
        area.present()?;
        Ok(())
    };
    drawn().map_err(|error| anyhow!("{}: {error}", path.display()))
}

fn draw_panel(
    area: &DrawingArea<SVGBackend<'_>, Shift>,
    panel: &Panel,
    abscissa: &str,
    label: &dyn Fn(f64) -> String,
) -> Result<(), Box<dyn std::error::Error>> {
    let percent = |share: f64| 100.0 * share;
    let values = panel.points.iter().flat_map(|point| [point.1, point.2]);
    let low = values.fold(f64::INFINITY, f64::min);
    let low = (percent(low) / 10.0).floor() * 10.0;
    let first = panel.points.first().map_or(0.0, |point| point.0);
    let last = panel.points.last().map_or(1.0, |point| point.0);
    let mut chart = ChartBuilder::on(area)
        .caption(&panel.name, ("sans-serif", 15))
        .margin(8)
        .margin_right(18)
        .x_label_area_size(34)
        .y_label_area_size(42)
        .build_cartesian_2d(first..last, low..100.0)?;
    chart
        .configure_mesh()
        .x_desc(abscissa)
        .y_desc("accuracy, %")
        .x_labels(6)
        .y_labels(6)
        .x_label_formatter(&|x| label(*x))
        .y_label_formatter(&|y| format!("{y:.0}"))
        .light_line_style(TRANSPARENT)
        .draw()?;
    let train = panel.points.iter().map(|point| (point.0, percent(point.1)));
    chart.draw_series(DashedLineSeries::new(train, 4, 3, TRAIN.stroke_width(1)))?;
    let test: Vec<_> = panel
        .points
        .iter()
        .map(|point| (point.0, percent(point.2)))
        .collect();
    chart.draw_series(LineSeries::new(test.iter().copied(), TEST.stroke_width(2)))?;
    let dots = test
        .iter()
        .map(|&point| Circle::new(point, 2, TEST.filled()));
    chart.draw_series(dots)?;
    Ok(())
}
