//! Pieces of drawings.

/// The least part of its size that a drawing is shown at.
const LEAST_SCALE: f64 = 0.8;

/// A colour between white and dark blue, and one that can be read on it.
pub fn shade(share: f64) -> (String, &'static str) {
    // White, light blue, blue, dark blue.
    const STOPS: [[f64; 3]; 4] = [
        [255.0, 255.0, 255.0],
        [189.0, 215.0, 238.0],
        [66.0, 133.0, 190.0],
        [8.0, 48.0, 107.0],
    ];
    let share = if share.is_finite() {
        share.clamp(0.0, 1.0)
    } else {
        0.0
    };
    let place = share * (STOPS.len() - 1) as f64;
    let low = (place as usize).min(STOPS.len() - 2);
    let part = place - low as f64;
    let mix = |k: usize| (STOPS[low][k] + part * (STOPS[low + 1][k] - STOPS[low][k])).round() as u8;
    let colour = format!("#{:02x}{:02x}{:02x}", mix(0), mix(1), mix(2));
    (colour, if share > 0.55 { "#fff" } else { "#222" })
}

/// The beginning of a drawing. It shrinks a little where the page is narrow; where that
/// is not enough, the figure around it scrolls, and its numbers can still be read.
pub fn open(width: f64, height: f64) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
         style=\"min-width:{:.0}px\" viewBox=\"0 0 {width:.0} {height:.0}\" font-family=\"system-ui, sans-serif\" font-size=\"12\">\n",
        LEAST_SCALE * width
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shades_go_from_white_to_dark() {
        assert_eq!(shade(0.0), ("#ffffff".to_owned(), "#222"));
        assert_eq!(shade(1.0), ("#08306b".to_owned(), "#fff"));
        assert_eq!(shade(f64::NAN).0, "#ffffff");
    }
}
