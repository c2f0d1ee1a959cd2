//! The names of modes, which are values of parameters.

/// The names in a list of modes with their names.
pub(crate) const fn names_of<T: Copy, const N: usize>(modes: [(&'static str, T); N]) -> [&'static str; N] {
    let mut names = [""; N];
    let mut index = 0;
    while index < N {
        names[index] = modes[index].0;
        index += 1;
    }
    names
}
