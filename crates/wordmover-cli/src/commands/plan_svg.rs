//! A transport plan as a picture: words in two columns, a band for every move,
//! as wide as its mass and the redder the farther it goes.

use wordmover::wmd::WordMove;

use crate::markup::escape;

const WIDTH: f64 = 760.0;
const LEFT: f64 = 240.0;
const RIGHT: f64 = 520.0;
const TOP: f64 = 84.0;
/// Height of a mass of one, and the gap between words. Every word has room for its name.
const MASS_HEIGHT: f64 = 260.0;
const GAP: f64 = 12.0;
const LEAST_HEIGHT: f64 = 16.0;
/// A thinner band has no room for a number; a tooltip tells it.
const LEAST_LABELLED: f64 = 9.0;

/// The drawing as an SVG document.
pub fn draw(words: &[Vec<&str>; 2], title: &str, moves: &[WordMove]) -> String {
    let mut left = Column::new(moves.iter().map(|step| (step.from, step.mass)));
    let mut right = Column::new(moves.iter().map(|step| (step.to, step.mass)));
    // Words stand opposite to where their mass goes, so that bands cross little.
    right.reorder(|word| {
        let (mut sum, mut mass) = (0.0, 0.0);
        for step in moves.iter().filter(|step| step.to == word) {
            sum += left.middle(step.from) * step.mass;
            mass += step.mass;
        }
        sum / mass
    });
    let height = TOP + left.height().max(right.height()) + 48.0;
    let farthest = moves.iter().map(|step| step.cost).fold(0.0, f64::max);

    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height:.0}\" \
         width=\"{WIDTH}\" height=\"{height:.0}\" font-family=\"sans-serif\" font-size=\"14\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n\
         <text x=\"{}\" y=\"34\" font-size=\"18\" text-anchor=\"middle\">\
         {}</text>\n\
         <text x=\"{}\" y=\"58\" fill=\"#666\" text-anchor=\"middle\">\
         band: mass moved; number: distance between the two words</text>\n",
        WIDTH / 2.0,
        escape(title),
        WIDTH / 2.0
    );
    let mut labels = String::new();
    let mut order: Vec<usize> = (0..moves.len()).collect();
    order.sort_by(|&a, &b| {
        let key = |i: usize| (left.middle(moves[i].from), right.middle(moves[i].to));
        key(a)
            .partial_cmp(&key(b))
            .unwrap_or(std::cmp::Ordering::Equal)
    });
    for i in order {
        let step = &moves[i];
        let thickness = step.mass * MASS_HEIGHT;
        let (from, to) = (
            left.take(step.from, thickness),
            right.take(step.to, thickness),
        );
        let colour = colour(if farthest > 0.0 {
            step.cost / farthest
        } else {
            0.0
        });
        let middle = (LEFT + RIGHT) / 2.0;
        let [from_word, to_word] = [words[0][step.from as usize], words[1][step.to as usize]];
        svg += &format!(
            "<path d=\"M{LEFT} {from:.1} C{middle} {from:.1} {middle} {to:.1} {RIGHT} {to:.1}\" \
             fill=\"none\" stroke=\"{colour}\" stroke-width=\"{:.1}\" stroke-opacity=\"0.55\">\
             <title>{} to {}: mass {:.4}, distance {:.4}</title></path>\n",
            thickness.max(1.0),
            escape(from_word),
            escape(to_word),
            step.mass,
            step.cost
        );
        if thickness < LEAST_LABELLED {
            continue;
        }
        // Labels near the left column, where bands have not yet crossed.
        let (x, y) = on_band(0.12, from, to);
        labels += &format!(
            "<text x=\"{x:.0}\" y=\"{:.1}\" font-size=\"12\" text-anchor=\"middle\" fill=\"#222\" \
             stroke=\"white\" stroke-width=\"3\" paint-order=\"stroke\">{:.2}</text>\n",
            y + 4.0,
            step.cost
        );
    }
    svg += &labels;
    for (column, words, x, anchor) in [
        (&left, &words[0], LEFT - 10.0, "end"),
        (&right, &words[1], RIGHT + 10.0, "start"),
    ] {
        for place in &column.places {
            let word = escape(words[place.word as usize]);
            svg += &format!(
                "<text x=\"{x}\" y=\"{:.1}\" text-anchor=\"{anchor}\">{word}</text>\n",
                place.top + place.height / 2.0 + 5.0
            );
        }
    }
    svg += "</svg>\n";
    svg
}

/// A point of the curve from the left column to the right one.
fn on_band(t: f64, from: f64, to: f64) -> (f64, f64) {
    let middle = (LEFT + RIGHT) / 2.0;
    let s = 1.0 - t;
    let weights = [s * s * s, 3.0 * s * s * t, 3.0 * s * t * t, t * t * t];
    let at = |points: [f64; 4]| points.iter().zip(weights).map(|(p, w)| p * w).sum::<f64>();
    (at([LEFT, middle, middle, RIGHT]), at([from, from, to, to]))
}

/// From teal for words that stay to red for the farthest move.
fn colour(share: f64) -> String {
    let mix = |near: f64, far: f64| (near + (far - near) * share).round() as u8;
    format!(
        "#{:02x}{:02x}{:02x}",
        mix(42.0, 214.0),
        mix(157.0, 69.0),
        mix(143.0, 65.0)
    )
}

/// The words of one document from top to bottom.
struct Column {
    places: Vec<Place>,
}

struct Place {
    word: u32,
    top: f64,
    height: f64,
    /// Thickness of the bands that have been attached.
    used: f64,
    bands: f64,
}

impl Column {
    fn new(moves: impl Iterator<Item = (u32, f64)>) -> Self {
        let mut places: Vec<Place> = Vec::new();
        for (word, mass) in moves {
            let bands = mass * MASS_HEIGHT;
            match places.iter_mut().find(|place| place.word == word) {
                Some(place) => place.bands += bands,
                None => places.push(Place {
                    word,
                    top: 0.0,
                    height: 0.0,
                    used: 0.0,
                    bands,
                }),
            }
        }
        let mut column = Column { places };
        column.stack();
        column
    }

    fn stack(&mut self) {
        let mut top = TOP;
        for place in &mut self.places {
            place.height = place.bands.max(LEAST_HEIGHT);
            place.top = top;
            top += place.height + GAP;
        }
    }

    fn reorder(&mut self, key: impl Fn(u32) -> f64) {
        self.places
            .sort_by(|a, b| key(a.word).total_cmp(&key(b.word)));
        self.stack();
    }

    fn height(&self) -> f64 {
        self.places
            .last()
            .map_or(0.0, |place| place.top + place.height - TOP)
    }

    fn middle(&self, word: u32) -> f64 {
        let place = self.places.iter().find(|place| place.word == word);
        place.map_or(0.0, |place| place.top + place.height / 2.0)
    }

    /// The middle of the next band attached to a word.
    fn take(&mut self, word: u32, thickness: f64) -> f64 {
        let place = self.places.iter_mut().find(|place| place.word == word);
        place.map_or(0.0, |place| {
            let start = place.top + (place.height - place.bands) / 2.0 + place.used;
            place.used += thickness;
            start + thickness / 2.0
        })
    }
}
