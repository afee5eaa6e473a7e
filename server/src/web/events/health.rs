//! What the operators' page of the service's health is told: that it is time to look again.

use std::convert::Infallible;

use axum::{
    extract::State,
    http::StatusCode,
    response::{IntoResponse, Response, sse::Event},
};
use futures::{Stream, stream};
use tokio::time::Interval;

use super::{ASK_AGAIN, CHANGED, answer, every, is_logged_in};
use crate::{
    jobs::changes::Listening,
    service::health::sampler::WRITE_EVERY,
    web::{Web, viewer::Viewer},
};

/// `GET`: for operators, as long as they are it.
pub(super) async fn get(State(web): State<Web>, viewer: Viewer) -> Response {
    if let Err(status) = viewer.operator(&web).await {
        return status.into_response();
    }
    let Some(listening) = web.app.jobs.changes().listen_as_operator() else {
        return StatusCode::SERVICE_UNAVAILABLE.into_response();
    };
    let watch = Watch {
        web,
        viewer,
        listening,
        written: every(WRITE_EVERY),
        ask_again: every(ASK_AGAIN),
    };
    answer(watch.events())
}

/// One page that looks again and again.
struct Watch {
    web: Web,
    viewer: Viewer,
    /// Ends with the service.
    listening: Listening,
    written: Interval,
    ask_again: Interval,
}

impl Watch {
    /// Until the session or the service ends, or the person is no operator any more.
    fn events(self) -> impl Stream<Item = Result<Event, Infallible>> {
        stream::unfold(self, |mut watch| async move {
            loop {
                tokio::select! {
                    change = watch.listening.next() => {
                        change?;
                    }
                    _ = watch.written.tick() => {
                        return Some((Ok(Event::default().event(CHANGED).data("health")), watch));
                    }
                    _ = watch.ask_again.tick() => {
                        if !is_logged_in(&watch.web, &mut watch.viewer).await
                            || watch.viewer.operator(&watch.web).await.is_err()
                        {
                            return None;
                        }
                    }
                }
            }
        })
    }
}
