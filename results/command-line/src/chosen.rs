//! Lists of names.

/// What was chosen by name, each once; all there is if nothing was.
pub fn chosen<T: Copy + PartialEq>(names: &[T], all: &[T]) -> Vec<T> {
    let mut chosen = Vec::new();
    for &name in if names.is_empty() { all } else { names } {
        if !chosen.contains(&name) {
            chosen.push(name);
        }
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::chosen;

    #[test]
    fn names_count_once_in_their_order_and_no_name_means_all() {
        assert_eq!(chosen(&[3, 1, 3], &[1, 2, 3]), [3, 1]);
        assert_eq!(chosen(&[], &[1, 2, 3]), [1, 2, 3]);
    }
}
