//! Word weights and a linear map of the word vectors, learnt from labels for nearest
//! neighbours (S-WMD: Huang et al., 2016).
//!
//! What is made small is the loss of neighbourhood components analysis: every document is to
//! find its class among its nearest others, where nearness is the exact Word Mover's Distance
//! in the learnt space. S-WMD takes gradients from plans smoothed by entropy; here they come
//! from exact plans and their duals. Each step takes a few documents and, of each, the others
//! with the nearest mean vectors.

mod learner;
mod numbered;

pub(crate) use learner::{Learner, STEPS_A_ROUND};
