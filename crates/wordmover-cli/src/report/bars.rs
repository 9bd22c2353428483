//! Shares and times as bars.

use std::fmt::Write;

use super::svg::{escape, open, shorten};

/// Characters of a name that are shown, and what each takes.
const NAME: usize = 40;
const CHARACTER: f64 = 6.8;
const LONGEST: f64 = 380.0;
const VALUES: f64 = 110.0;
const ROW: f64 = 26.0;

/// What is measured, and what it is compared with.
pub const BLUE: &str = "#1c7ed6";
pub const LIGHT_BLUE: &str = "#a5d0f5";
pub const GREY: &str = "#ced4da";

/// One bar.
pub struct Bar {
    pub name: String,
    pub length: f64,
    /// Half of the whisker at its end; 0 draws none.
    pub deviation: f64,
    pub label: String,
    pub colour: &'static str,
}

impl Bar {
    /// A share of 1, in per cent.
    pub fn share(name: impl Into<String>, share: f64, deviation: f64, colour: &'static str) -> Bar {
        let spread = match deviation > 0.0 {
            true => format!(" ± {:.2}", 100.0 * deviation),
            false => String::new(),
        };
        Bar {
            name: name.into(),
            length: share,
            deviation,
            label: format!("{:.2} %{spread}", 100.0 * share),
            colour,
        }
    }
}

/// Bars below each other; one of length `full` takes the whole width.
pub fn figure(bars: &[Bar], full: f64, caption: &str) -> String {
    let longest = bars.iter().map(|bar| bar.name.chars().count()).max();
    let names = CHARACTER * longest.unwrap_or(0).clamp(12, NAME) as f64 + 14.0;
    let height = ROW * bars.len() as f64;
    let mut svg = open(names + LONGEST + VALUES, height + 4.0);
    for (i, bar) in bars.iter().enumerate() {
        let y = ROW * i as f64;
        let scale = LONGEST / full.max(f64::MIN_POSITIVE);
        let length = (bar.length * scale).clamp(0.0, LONGEST);
        let middle = y + ROW / 2.0;
        let _ = writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>\
             <rect x=\"{names:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" rx=\"2\" fill=\"{}\"/>",
            names - 8.0,
            middle + 4.0,
            escape(&shorten(&bar.name, NAME)),
            y + 4.0,
            length.max(1.0),
            ROW - 8.0,
            bar.colour
        );
        let end = names + length;
        let whisker = bar.deviation * scale;
        if whisker > 0.0 {
            let _ = writeln!(
                svg,
                "<line x1=\"{:.1}\" x2=\"{:.1}\" y1=\"{middle:.1}\" y2=\"{middle:.1}\" \
                 stroke=\"#222\" stroke-width=\"1.5\"/>",
                end - whisker,
                end + whisker
            );
        }
        let _ = writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.1}\" font-weight=\"600\">{}</text>",
            end + whisker + 7.0,
            middle + 4.0,
            escape(&bar.label)
        );
    }
    format!("<figure>{svg}</svg><figcaption>{caption}</figcaption></figure>\n")
}
