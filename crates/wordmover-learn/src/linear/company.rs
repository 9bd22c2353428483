//! Which machines are solved together.

/// The greatest number of machines that are solved together.
pub(crate) const MOST_LANES: usize = 8;

/// Machines solved together: the first and their number.
pub(crate) type Company = (usize, usize);

/// Divides machines among threads, the more together the better: what a machine finds does
/// not depend on it. `n_parts` is how often all of them are solved.
pub(crate) fn companies(n_machines: usize, n_parts: usize) -> Vec<Company> {
    let n_threads = rayon::current_num_threads();
    let mut width = MOST_LANES;
    while width > 1 && n_parts * n_machines.div_ceil(width) < n_threads {
        width /= 2;
    }
    let firsts = (0..n_machines).step_by(width);
    firsts
        .map(|first| (first, width.min(n_machines - first)))
        .collect()
}
