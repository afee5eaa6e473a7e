//! A person's initials, in place of a picture.

use leptos::prelude::*;

/// A disc with initials; the name stands beside it.
#[component]
pub fn Avatar(
    /// What the person is called.
    #[prop(into)]
    name: String,
) -> impl IntoView {
    view! {
        <span class="avatar" aria-hidden="true">
            {initials(&name)}
        </span>
    }
}

/// The first letters of the first and the last word.
fn initials(name: &str) -> String {
    let mut words = name.split_whitespace().filter_map(|word| word.chars().next());
    let first = words.next();
    first
        .into_iter()
        .chain(words.next_back())
        .flat_map(char::to_uppercase)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn initials_are_two_letters_at_most() {
        for (name, expected) in [
            ("Ines Okafor", "IO"),
            ("ann", "A"),
            ("Ana de la Cruz", "AC"),
            ("  ", ""),
        ] {
            assert_eq!(initials(name), expected, "{name}");
        }
    }
}
