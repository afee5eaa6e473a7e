//! A user's initials, instead of an image.

use leptos::prelude::*;

/// A disc with initials, beside which the name is shown.
#[component]
pub fn Avatar(#[prop(into)] name: String) -> impl IntoView {
    view! {
        <span class="avatar" aria-hidden="true">
            {initials(&name)}
        </span>
    }
}

/// Returns the first letters of the first and of the last word.
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
