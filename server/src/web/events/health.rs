//! Event stream for the operators' health page, which notifies it to reload.

use std::convert::Infallible;

use axum::{
    extract::State,
    http::StatusCode,
    response::{Response, sse::Event},
};
use futures::{Stream, stream};
use platen_core::{service::health::sampler::WRITE_EVERY, signals::changes::Listening};
use tokio::time::Interval;

use super::{ASK_AGAIN, CHANGED, answer, every, is_logged_in};

use crate::web::{Web, viewer::Viewer};

/// `GET`: for users who are operators, until they no longer are.
pub(super) async fn get(State(web): State<Web>, viewer: Viewer) -> Result<Response, StatusCode> {
    viewer.operator(&web).await?;
    let listening = web.app.jobs.changes().listen_as_operator();
    let listening = listening.ok_or(StatusCode::SERVICE_UNAVAILABLE)?;
    let watch = Watch {
        web,
        viewer,
        listening,
        written: every(WRITE_EVERY),
        ask_again: every(ASK_AGAIN),
    };
    Ok(answer(watch.events()))
}

/// A health page that reloads at intervals.
struct Watch {
    web: Web,
    viewer: Viewer,
    /// Ends when the service stops.
    listening: Listening,
    written: Interval,
    ask_again: Interval,
}

impl Watch {
    /// Returns the events until the session or the service ends, or the user is no longer an operator.
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
