//! What a search answers.

use hashbrown::HashSet;

use super::open::SearchIndex;
use crate::document::WordCounts;
use crate::error::Result;
use crate::names::names;

/// How documents are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum SearchBy {
    /// By words, embedding and exact distance together.
    #[default]
    Hybrid,
    /// By Word Mover's Distance, exactly: no nearer document is missed.
    Wmd,
    /// The most similar embeddings, in the order of their exact distances.
    Embedding,
}

names!(SearchBy, "by":
    Hybrid "hybrid" "words, embedding and distance together",
    Wmd "wmd" "exact Word Mover's Distance to all documents",
    Embedding "embedding" "exact distance to the documents whose embeddings are most alike",
);

/// A document that was found.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Hit {
    /// Its id, or its number where documents have no ids.
    pub id: String,
    /// Its text.
    pub text: String,
    /// What hits are ordered by, greatest first: minus the distance, or for
    /// [`SearchBy::Hybrid`] the weighted sum of the parts.
    pub score: f64,
    /// What the score is made of.
    pub parts: HitParts,
    /// Words of the query that the document has: those that the vectors know in the order of
    /// the query, then the others.
    pub words: Vec<String>,
}

/// What a score is made of; `None` for what the search did not need.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub struct HitParts {
    /// The exact Word Mover's Distance; for [`SearchBy::Hybrid`] it counts by how much of the
    /// mean of the documents compared it is below that mean.
    pub distance: Option<f64>,
    /// The cosine of the embeddings of query and document.
    pub cosine: Option<f64>,
    /// Evidence of common words (BM25), 1 for the mean of the ten best documents after the
    /// first.
    pub words: Option<f64>,
    /// The cosine of the document's embedding and the mean of those of the five best.
    pub feedback: Option<f64>,
}

impl SearchIndex {
    /// The hit for a document of the index.
    pub(super) fn hit(
        &self,
        query: &WordCounts,
        document: usize,
        score: f64,
        parts: HitParts,
    ) -> Result<Hit> {
        let (segment, i) = self.place(document);
        let text = self.found(segment.text(i))?;
        let counts = self.model.documents().word_counts(text);
        let known: HashSet<u32> = counts.words.iter().map(|&(id, _)| id).collect();
        let unknown: HashSet<&str> = counts.unknown.iter().map(|(word, _)| &**word).collect();
        let vectors = self.model.space().vectors();
        let mut words: Vec<String> = Vec::new();
        let shared = query.words.iter().filter(|(id, _)| known.contains(id));
        words.extend(shared.map(|&(id, _)| vectors.word(id).to_owned()));
        let shared = query
            .unknown
            .iter()
            .filter(|(word, _)| unknown.contains(&**word));
        words.extend(shared.map(|(word, _)| word.to_string()));
        Ok(Hit {
            id: self.found(segment.id(i))?.to_owned(),
            text: text.to_owned(),
            score,
            parts,
            words,
        })
    }
}
