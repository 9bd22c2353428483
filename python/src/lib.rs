//! The native half of the Python package `wordmover`.
//!
//! Thin: it takes Python's values to the library and back, without the interpreter's
//! lock and open to interrupts ([`pool`]). What users call is in `python/wordmover`.

#![allow(missing_docs, reason = "a private module")]

mod arrow;
mod choices;
mod classifier;
mod device;
mod distance;
mod errors;
mod fitter;
mod index;
mod model;
mod points;
mod pool;
mod svm;
mod texts;
mod transport;
mod vectors;
mod words;

#[pyo3::pymodule]
mod _native {
    #[pymodule_export]
    use crate::arrow::{ArrowColumn, embed_column};
    #[pymodule_export]
    use crate::classifier::Classifier;
    #[pymodule_export]
    use crate::distance::{Index, pairwise_distances, word_movers_distance};
    #[pymodule_export]
    use crate::errors::ModelError;
    #[pymodule_export]
    use crate::fitter::{Drawn, Fitter};
    #[pymodule_export]
    use crate::index::SearchIndex;
    #[pymodule_export]
    use crate::model::Model;
    #[pymodule_export]
    use crate::points::{
        PointModel, document_kernel, edit_distances, point_distances, series_distances,
    };
    #[pymodule_export]
    use crate::pool::{get_num_threads, set_num_threads};
    #[pymodule_export]
    use crate::svm::{fit_svm, fit_svm_of_paper, svm_decision_values};
    #[pymodule_export]
    use crate::transport::{transport_cost, transport_list, transport_partial};
    #[pymodule_export]
    use crate::transport::{transport_solution, transport_solutions, transport_stack};
    #[pymodule_export]
    use crate::vectors::PyWordVectors;
    #[pymodule_export]
    use crate::words::{Bags, WordCounts, count_words, without_stop_words, words_of};
}
