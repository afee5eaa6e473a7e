//! Names of families and styles (OpenType, table `name`).

use ttf_parser::{Face, name_id};

/// Language of names on Windows: English of the United States.
const ENGLISH: u16 = 0x0409;
/// Maximum length of a name in characters.
const LONGEST_NAME: usize = 100;
/// The style of fonts that need no name for it.
const REGULAR: &str = "Regular";
/// Words that end the names of families that have only four styles, and belong to the style: `Plex Mono SemiBold`.
const STYLES: [&str; 18] = [
    "Thin",
    "Hairline",
    "ExtraLight",
    "UltraLight",
    "Light",
    "Book",
    REGULAR,
    "Medium",
    "SemiBold",
    "DemiBold",
    "Bold",
    "ExtraBold",
    "UltraBold",
    "Black",
    "Heavy",
    "ExtraBlack",
    "Italic",
    "Oblique",
];
/// Words that belong to the style before one of these: `Semi Bold`.
const DEGREES: [&str; 4] = ["Semi", "Demi", "Extra", "Ultra"];

/// Names of a font.
pub(super) struct Names {
    /// The family, which all its styles share.
    pub(super) family: Option<String>,
    /// The family as programs know it that allow for four styles, if it has another name.
    pub(super) legacy_family: Option<String>,
    pub(super) style: Option<String>,
}

/// Returns the names of a font.
pub(super) fn of(face: &Face<'_>) -> Names {
    let style = [name_id::TYPOGRAPHIC_SUBFAMILY, name_id::SUBFAMILY];
    let style = style.into_iter().find_map(|id| name(face, id));
    let legacy_family = name(face, name_id::FAMILY);
    let (family, style) = match (name(face, name_id::TYPOGRAPHIC_FAMILY), &legacy_family) {
        (Some(family), _) => (Some(family), style),
        (None, Some(legacy)) => {
            let (family, words) = without_style(legacy);
            let style = style.filter(|style| style != REGULAR || words.is_empty());
            let styles: Vec<_> = words.into_iter().chain(style.as_deref()).collect();
            (Some(family.to_owned()), (!styles.is_empty()).then(|| styles.join(" ")))
        }
        (None, None) => (None, style),
    };
    Names {
        legacy_family: legacy_family.filter(|legacy| Some(legacy) != family.as_ref()),
        family,
        style,
    }
}

/// Splits the name of a family from the words of a style at its end.
fn without_style(name: &str) -> (&str, Vec<&str>) {
    let (mut family, mut words) = (name, Vec::new());
    while let Some((rest, word)) = family.rsplit_once(' ')
        && (STYLES.contains(&word) || (DEGREES.contains(&word) && !words.is_empty()))
    {
        family = rest;
        words.insert(0, word);
    }
    (family, words)
}

/// Returns a name, in English if the font has that.
fn name(face: &Face<'_>, id: u16) -> Option<String> {
    let names = face.names().into_iter();
    let names = names.filter(|name| name.name_id == id && name.is_unicode());
    let mut texts: Vec<_> = names
        .filter_map(|name| Some((name.language_id != ENGLISH, shown(&name.to_string()?))))
        .filter(|(_, text)| !text.is_empty())
        .collect();
    texts.sort_by_key(|(is_foreign, _)| *is_foreign);
    texts.into_iter().next().map(|(_, text)| text)
}

/// Returns a name without control characters, shortened.
fn shown(name: &str) -> String {
    let name: String = name.chars().filter(|c| !c.is_control()).take(LONGEST_NAME).collect();
    name.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_style_are_no_part_of_the_family() {
        assert_eq!(
            without_style("Plex Mono SemiBold Italic"),
            ("Plex Mono", vec!["SemiBold", "Italic"])
        );
        assert_eq!(without_style("Plex Semi Bold"), ("Plex", vec!["Semi", "Bold"]));
        assert_eq!(without_style("Plex Extra"), ("Plex Extra", vec![]));
        assert_eq!(without_style("Black"), ("Black", vec![]));
        assert_eq!(without_style("Light Source"), ("Light Source", vec![]));
    }
}
