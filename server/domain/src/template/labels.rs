//! Labels that distinguish templates with the same name.

use std::collections::HashMap;

use time::{OffsetDateTime, macros::format_description};

use crate::ids::TemplateId;

/// Number of characters shown of an id: its end, which is random.
const ID_ENDING: usize = 8;

/// Returns the creation date and the end of the id for each template that shares its name with another one.
pub fn hints<'a>(templates: impl Iterator<Item = (TemplateId, &'a str)> + Clone) -> HashMap<TemplateId, String> {
    let mut bearers: HashMap<&str, usize> = HashMap::new();
    for (_, name) in templates.clone() {
        *bearers.entry(name).or_default() += 1;
    }
    let shared = templates.filter(|(_, name)| bearers[name] > 1);
    shared.map(|(id, _)| (id, hint(id))).collect()
}

/// Adds a hint to the names of templates for selection lists where several have the same name.
pub fn labelled(mut templates: Vec<(TemplateId, String)>) -> Vec<(TemplateId, String)> {
    let hints = hints(templates.iter().map(|(id, name)| (*id, name.as_str())));
    for (id, name) in &mut templates {
        if let Some(hint) = hints.get(id) {
            *name = format!("{name} ({hint})");
        }
    }
    templates
}

fn hint(id: TemplateId) -> String {
    let text = id.to_string();
    let ending = &text[text.len() - ID_ENDING..];
    match created(id) {
        Some(day) => format!("created {day}, id …{ending}"),
        None => format!("id …{ending}"),
    }
}

/// Ids contain the time of their creation (UUID version 7).
fn created(id: TemplateId) -> Option<String> {
    let (seconds, _) = id.0.get_timestamp()?.to_unix();
    let time = OffsetDateTime::from_unix_timestamp(seconds.try_into().ok()?).ok()?;
    time.format(format_description!("[day padding:none] [month repr:short] [year]"))
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_shares_its_name_is_told_apart() {
        let template = |id: &str, name: &str| (TemplateId::parse(id).expect("an id"), name.to_owned());
        let templates = [
            template("0192f0c1-5a3e-7c44-9d8e-3b1f6a2c7d90", "Invoice"),
            template("0192f0c1-5a3e-7c44-9d8e-3b1f6a2c7d91", "Letter"),
            template("0193f0c1-5a3e-7c44-9d8e-3b1f00000001", "Invoice"),
            template("a3bb189e-8bf9-4888-9912-ace4e6543002", "Invoice"),
        ];
        let labels: Vec<_> = labelled(templates.into()).into_iter().map(|(_, label)| label).collect();
        assert_eq!(
            labels,
            [
                "Invoice (created 3 Nov 2024, id …6a2c7d90)",
                "Letter",
                "Invoice (created 22 Dec 2024, id …00000001)",
                "Invoice (id …e6543002)",
            ]
        );
    }
}
