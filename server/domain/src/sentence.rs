//! Formatting of messages for users.

/// Capitalizes a message, and adds a period unless it ends with punctuation.
pub fn sentence(message: &str) -> String {
    let mut characters = message.chars();
    let first = characters.next().into_iter().flat_map(char::to_uppercase);
    let mut sentence: String = first.chain(characters).collect();
    if !sentence.ends_with(['.', '!', '?', '…']) {
        sentence.push('.');
    }
    sentence
}
