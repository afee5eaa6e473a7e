//! The PDF of a template as it is in the editor, for logged-in members of the account.

use axum::{
    body::{Body, Bytes, to_bytes},
    extract::{Path, Request, State},
    http::{StatusCode, header},
    response::{IntoResponse, Redirect, Response},
};
use leptos::server_fn::error::FromServerFnError;
use platen_app::{
    error::AppError,
    model::{
        live_preview::{Paper, PreviewRequest},
        template::editor_path,
    },
};
use platen_core::{memory::Reservation, service::templates::live::LivePdf};
use platen_domain::{
    editor::{Pane, Remark},
    ids::TemplateId,
};
use url::form_urlencoded;

use crate::{
    http::{file_name::content_disposition, held_body::HeldBody},
    web::{
        Web,
        backend::{RequestBackend, live::NoPdf},
    },
};

/// Browsers show PDFs on a page of their own with an embedded object and inline styles, to which this applies.
const POLICY: &str = "default-src 'none'; object-src 'self'; style-src 'unsafe-inline'; frame-ancestors 'none'";
/// Resolution of pictures, which the PDF doesn't need.
const DOTS_PER_INCH: u16 = 96;
/// Longest message, in characters. Messages can quote what was typed.
const LONGEST_MESSAGE: usize = 500;

/// `GET …/preview.pdf`, as after a log-in: leads to the editor, which has the content.
pub(super) async fn get(Path(id): Path<String>) -> Result<Redirect, StatusCode> {
    let id = TemplateId::parse(&id).ok_or(StatusCode::NOT_FOUND)?;
    Ok(Redirect::to(&editor_path(&id.to_string())))
}

/// `POST …/preview.pdf`: the editor's form, with unsaved content.
pub(super) async fn post(State(web): State<Web>, Path(id): Path<String>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    // Bounded by `body_limits`, which also responds if the form is incomplete.
    let form = to_bytes(body, usize::MAX).await.unwrap_or_default();
    let (wanted, name) = read(id, &form);
    drop(form);
    match RequestBackend::of(&web, &parts).preview_pdf(wanted).await {
        Ok(LivePdf { pdf, memory }) => document(&name, pdf, memory),
        Err(reason) => refusal(&reason),
    }
}

/// Responds with a document, which is shown under this name.
pub(super) fn document(name: &str, pdf: Vec<u8>, memory: Reservation) -> Response {
    let headers = [
        (header::CONTENT_TYPE, "application/pdf"),
        (header::CONTENT_DISPOSITION, &*content_disposition(Some(name))),
        (header::CONTENT_SECURITY_POLICY, POLICY),
    ];
    (headers, Body::new(HeldBody::new(pdf, memory))).into_response()
}

/// Reads the fields of the editor's form. Returns the request and the name of the template. Missing fields are empty,
/// which the service reports.
fn read(id: String, form: &Bytes) -> (PreviewRequest, String) {
    let mut name = String::new();
    let mut paper = Paper {
        prefer_css: false,
        backgrounds: false,
        ..Paper::default()
    };
    let mut wanted = PreviewRequest {
        id,
        dots_per_inch: DOTS_PER_INCH,
        page: 1,
        ..PreviewRequest::default()
    };
    for (field, value) in form_urlencoded::parse(form) {
        match &*field {
            "template_name" => name = value.into_owned(),
            // Browsers submit line breaks as CR LF. The line numbers of messages are the same.
            "content" => wanted.content = value.into_owned(),
            "data" => wanted.data = value.into_owned(),
            "translations" => wanted.translations = value.into_owned(),
            "paper-language" => wanted.language = value.into_owned(),
            "paper-size" => paper.size = value.into_owned(),
            "paper-orientation" => paper.landscape = value == "landscape",
            "paper-scale" => paper.scale = value.into_owned(),
            "paper-from-page" => paper.prefer_css = true,
            "paper-backgrounds" => paper.backgrounds = true,
            field => {
                let side = field.strip_prefix("paper-margin-").and_then(|side| side.parse().ok());
                if let Some(margin) = side.and_then(|side: usize| paper.margins.get_mut(side)) {
                    *margin = value.into_owned();
                }
            }
        }
    }
    wanted.paper = paper;
    (wanted, name)
}

/// Responds in plain text, which becomes an error page.
pub(super) fn refusal(reason: &NoPdf) -> Response {
    let (status, message) = match reason {
        NoPdf::Faulty(remark) => (StatusCode::UNPROCESSABLE_ENTITY, words(remark)),
        NoPdf::Busy => {
            let message = "All slots are in use. Close this tab, and open the PDF again in a moment.";
            (StatusCode::SERVICE_UNAVAILABLE, message.to_owned())
        }
        NoPdf::Refused(error @ AppError::Internal { .. }) => {
            return (StatusCode::INTERNAL_SERVER_ERROR, error.ser()).into_response();
        }
        NoPdf::Refused(error) => {
            let status = StatusCode::from_u16(error.status()).unwrap_or(StatusCode::FORBIDDEN);
            (status, error.to_string())
        }
    };
    (status, message + "\n").into_response()
}

fn words(remark: &Remark) -> String {
    let place = remark.place.map(|place| match place.pane {
        Pane::Content => format!(" Line {} of the HTML.", place.line),
        Pane::Data => format!(" Line {} of the sample data.", place.line),
        Pane::Translations => format!(" Line {} of the translations.", place.line),
    });
    let message: String = remark.text().chars().take(LONGEST_MESSAGE).collect();
    message + &place.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_form_is_read_like_the_editor() {
        let form = "csrf=x&template_name=A+b&content=%3Cp%3E&data=%7B%7D&translations=%7B%22de%22%3A%7B%7D%7D&paper-language=de&paper-size=A5&paper-orientation=landscape\
                    &paper-scale=0.5&paper-margin-1=12&paper-margin-9=1&paper-backgrounds=on&pane=html";
        let (wanted, name) = read("id".to_owned(), &Bytes::from(form));
        assert_eq!(name, "A b");
        assert_eq!((wanted.content.as_str(), wanted.data.as_str()), ("<p>", "{}"));
        assert_eq!(
            (wanted.translations.as_str(), wanted.language.as_str()),
            (r#"{"de":{}}"#, "de")
        );
        let expected = Paper {
            size: "A5".to_owned(),
            landscape: true,
            scale: "0.5".to_owned(),
            margins: ["", "12", "", ""].map(str::to_owned),
            prefer_css: false,
            backgrounds: true,
        };
        assert_eq!(wanted.paper, expected);
    }
}
