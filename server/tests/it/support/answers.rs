//! Validates every API response in the tests against the API description.

use axum::http::{self, Extensions, HeaderMap};
use futures::future::BoxFuture;
use reqwest::{Method, Request, Response, StatusCode};
use reqwest_middleware::{Next, Result};
use serde_json::Value;

use crate::support::description::{Operation, document, operations, problems, resolve};

/// Headers of HTTP itself, which need no description.
const OF_THE_PROTOCOL: [&str; 8] = [
    "allow",
    "cache-control",
    "connection",
    "content-length",
    "content-type",
    "date",
    "transfer-encoding",
    "vary",
];

/// Sends a request, and fails the test if the response doesn't match the description.
pub(crate) fn hold_to_the_description<'a>(
    request: Request,
    extensions: &'a mut Extensions,
    next: Next<'a>,
) -> BoxFuture<'a, Result<Response>> {
    Box::pin(async move {
        let (method, path) = (request.method().clone(), request.url().path().to_owned());
        let response = next.run(request, extensions).await?;
        if !path.starts_with("/api/") {
            return Ok(response);
        }
        let (status, headers) = (response.status(), response.headers().clone());
        let body = response.bytes().await?;
        let wrong = problems_of_answer(&method, &path, status, &headers, &body);
        assert!(
            wrong.is_empty(),
            "{method} {path} answered {status}, which openapi.json does not describe so:\n  {}\n{headers:#?}\n{}",
            wrong.join("\n  "),
            String::from_utf8_lossy(&body[..body.len().min(2000)])
        );
        let mut response = http::Response::new(body);
        *response.status_mut() = status;
        *response.headers_mut() = headers;
        Ok(response.into())
    })
}

fn problems_of_answer(
    method: &Method,
    path: &str,
    status: StatusCode,
    headers: &HeaderMap,
    body: &[u8],
) -> Vec<String> {
    let of_path: Vec<_> = operations().into_iter().filter(|known| known.has_path(path)).collect();
    match of_path.iter().find(|known| known.method == *method) {
        Some(operation) => problems_by_operation(operation, status, headers, body),
        None if of_path.is_empty() => problems_of_refusal(StatusCode::NOT_FOUND, status, body),
        None => problems_of_refusal(StatusCode::METHOD_NOT_ALLOWED, status, body),
    }
}

/// Checks the response to a request without a described operation: the expected status and the shape of a resource
/// error.
fn problems_of_refusal(expected: StatusCode, status: StatusCode, body: &[u8]) -> Vec<String> {
    if status != expected {
        return vec![format!("no operation is described, so the status should be {expected}")];
    }
    json_problems(&document()["components"]["schemas"]["ResourceError"], body)
}

fn problems_by_operation(operation: &Operation, status: StatusCode, headers: &HeaderMap, body: &[u8]) -> Vec<String> {
    let Some(described) = operation.description["responses"].get(status.as_str()) else {
        return vec!["this status is not described".to_owned()];
    };
    let described = resolve(described);
    let mut wrong = header_problems(described.get("headers"), headers);
    let text = |name: &str| headers.get(name).map(|value| value.to_str().expect("text"));
    let media_type = text("content-type").map(|value| value.split(';').next().unwrap_or_default());
    match (described.get("content"), media_type) {
        (None, _) if body.is_empty() => {}
        (None, _) => wrong.push("no body is described".to_owned()),
        (Some(content), None) => wrong.push(format!("no Content-Type; described: {content}")),
        (Some(content), Some(media_type)) => match content.get(media_type) {
            None => wrong.push(format!("{media_type} is not described")),
            Some(described) if media_type == "application/json" => {
                wrong.extend(json_problems(&described["schema"], body));
            }
            Some(_) => {}
        },
    }
    wrong
}

fn header_problems(described: Option<&'static Value>, headers: &HeaderMap) -> Vec<String> {
    let described = described.and_then(Value::as_object);
    let mut wrong = Vec::new();
    for (name, header) in described.into_iter().flatten() {
        let header = resolve(header);
        match headers.get(name) {
            None if header["required"] == true => wrong.push(format!("the header {name} is missing")),
            None => {}
            Some(value) => {
                let text = value.to_str().expect("text");
                let number = text.parse::<u64>().ok().map(Value::from);
                let value = match header["schema"]["type"].as_str() {
                    Some("integer") => number.unwrap_or_else(|| text.into()),
                    _ => text.into(),
                };
                wrong.extend(
                    problems(&header["schema"], &value)
                        .iter()
                        .map(|problem| format!("{name}{problem}")),
                );
            }
        }
    }
    let known = |name: &str| {
        let mut names = described.into_iter().flatten().map(|(name, _)| name);
        OF_THE_PROTOCOL.contains(&name) || names.any(|described| described.eq_ignore_ascii_case(name))
    };
    let unknown = headers.keys().filter(|name| !known(name.as_str()));
    wrong.extend(unknown.map(|name| format!("the header {name} is not described")));
    wrong
}

fn json_problems(schema: &'static Value, body: &[u8]) -> Vec<String> {
    match serde_json::from_slice(body) {
        Ok(body) => problems(schema, &body),
        Err(error) => vec![format!("the body is not JSON: {error}")],
    }
}
