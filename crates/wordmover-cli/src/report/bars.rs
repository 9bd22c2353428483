//! Shares and times as bars: HTML and not a drawing, so that names and numbers keep
//! their size on a narrow page.

use std::fmt::Write;

use crate::markup::escape;

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
    let full = full.max(f64::MIN_POSITIVE);
    let percent = |length: f64| (100.0 * length / full).clamp(0.0, 100.0);
    let mut html = String::from("<figure class=\"wide\"><div class=\"bars\">\n");
    for bar in bars {
        let _ = write!(
            html,
            "<div class=\"name\">{}</div><div class=\"track\">\
             <span style=\"width:{:.2}%;background:{}\"></span>",
            escape(&bar.name),
            percent(bar.length),
            bar.colour
        );
        if bar.deviation > 0.0 {
            let start = percent(bar.length - bar.deviation);
            let end = percent(bar.length + bar.deviation);
            let _ = write!(
                html,
                "<i style=\"left:{start:.2}%;width:{:.2}%\"></i>",
                end - start
            );
        }
        let _ = writeln!(
            html,
            "</div><div class=\"value\">{}</div>",
            escape(&bar.label)
        );
    }
    format!("{html}</div><figcaption>{caption}</figcaption></figure>\n")
}
