//! Render requests as curl commands for a POSIX shell.

/// A request to the API, apart from its body. The command expects the API key in `PLATEN_KEY`.
pub struct CurlCommand<'a> {
    /// Public base URL of the service, without a trailing slash.
    pub base_url: &'a str,
    /// Path below `/api/v1/`.
    pub path: &'a str,
    /// `Idempotency-Key`. Empty: none.
    pub idempotency_key: &'a str,
    /// File for the response; `None` to print it.
    pub output: Option<&'a str>,
}

impl CurlCommand<'_> {
    /// Returns the command with this body.
    pub fn with_body(&self, body: &str) -> String {
        let Parts { start, end } = self.parts();
        format!("{start}  -d {}{end}\n", quoted(body))
    }

    /// Returns the command with a body in which the shell replaces expressions such as `$(cat data.json)`.
    pub fn with_expanded_body(&self, body: &str) -> String {
        let Parts { start, end } = self.parts();
        format!("{start}  -d @-{end} <<EOF\n{body}\nEOF\n")
    }

    fn parts(&self) -> Parts {
        let Self {
            base_url,
            path,
            idempotency_key: key,
            output,
        } = self;
        let key = if key.is_empty() {
            String::new()
        } else {
            format!("  -H {} \\\n", quoted(&format!("Idempotency-Key: {key}")))
        };
        // Without `--fail-with-body`, curl would report an error as success.
        let start = format!(
            "curl {base_url}/api/v1/{path} \\\n  --fail-with-body \\\n  -H \"Authorization: Bearer $PLATEN_KEY\" \\\n  \
             -H \"Content-Type: application/json\" \\\n{key}"
        );
        let end = output.map(|file| format!(" \\\n  -o {file}")).unwrap_or_default();
        Parts { start, end }
    }
}

/// The command around its body.
struct Parts {
    start: String,
    end: String,
}

/// Puts a text in single quotes for a POSIX shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMMAND: CurlCommand = CurlCommand {
        base_url: "https://platen.example",
        path: "renderers/pdf",
        idempotency_key: "",
        output: Some("document.pdf"),
    };

    #[test]
    fn shells_read_the_body_as_it_is() {
        assert_eq!(quoted("it's"), r"'it'\''s'");
        let command = COMMAND.with_body("{}");
        assert!(command.ends_with("  -d '{}' \\\n  -o document.pdf\n"), "{command}");
        assert!(!command.contains("Idempotency-Key"), "{command}");
    }

    #[test]
    fn an_expanded_body_follows_the_command() {
        let command = CurlCommand {
            idempotency_key: "a'b",
            ..COMMAND
        };
        let command = command.with_expanded_body("$(cat data.json)");
        assert!(command.contains(r"-H 'Idempotency-Key: a'\''b'"), "{command}");
        assert!(
            command.ends_with("  -d @- \\\n  -o document.pdf <<EOF\n$(cat data.json)\nEOF\n"),
            "{command}"
        );
    }
}
