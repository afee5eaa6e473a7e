//! Limits the size of stores' responses: tenants choose the stores, and S3 clients buffer whole responses in memory.

use aws_sdk_s3::{
    config::{
        RuntimeComponents, SharedHttpClient,
        http::{HttpRequest, HttpResponse},
    },
    primitives::SdkBody,
};
use aws_smithy_runtime_api::client::http::{
    HttpClient, HttpConnector, HttpConnectorFuture, HttpConnectorSettings, SharedHttpConnector,
};
use http_body_util::Limited;

use crate::storage::bucket::LONGEST_ANSWER;

/// Wraps a client so that responses longer than 64 KiB end with an error.
pub(super) fn bounded(client: SharedHttpClient) -> SharedHttpClient {
    SharedHttpClient::new(Bounded(client))
}

#[derive(Debug)]
struct Bounded<C>(C);

impl HttpClient for Bounded<SharedHttpClient> {
    fn http_connector(&self, settings: &HttpConnectorSettings, components: &RuntimeComponents) -> SharedHttpConnector {
        SharedHttpConnector::new(Bounded(self.0.http_connector(settings, components)))
    }
}

impl HttpConnector for Bounded<SharedHttpConnector> {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let answer = self.0.call(request);
        HttpConnectorFuture::new(async move { Ok(cut(answer.await?)) })
    }
}

fn cut(answer: HttpResponse) -> HttpResponse {
    answer.map(|body| SdkBody::from_body_1_x(Limited::new(body, LONGEST_ANSWER)))
}
