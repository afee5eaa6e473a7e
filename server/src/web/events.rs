//! Event streams (`EventSource` of HTML) that notify open pages of changes to their account's renders. A stream ends
//! with the session of the logged-in user.

mod health;

use std::{convert::Infallible, time::Duration};

use axum::{
    Router,
    extract::{Path, State},
    http::{HeaderName, StatusCode, header},
    response::{
        IntoResponse, Response,
        sse::{Event, KeepAlive, Sse},
    },
    routing::get,
};
use futures::{Stream, stream};
use platen_core::{
    clock,
    service::sessions,
    signals::changes::{Change, Listening},
};
use platen_domain::{
    ids::{AccountId, RenderId},
    role::Permission,
};
use tokio::time::{Interval, MissedTickBehavior, interval};

use crate::web::{Web, viewer::Viewer};

/// Proxies close idle connections.
const HEARTBEAT: Duration = Duration::from_secs(15);
/// Interval at which session and membership are checked again, so a stream ends soon after a log-out or after the user
/// has left the account.
const ASK_AGAIN: Duration = Duration::from_secs(20);
/// Delay after which browsers reconnect.
const COME_BACK: Duration = Duration::from_secs(3);
const CHANGED: &str = "changed";
/// Event data if the changed renders are unknown.
const SOME: &str = "*";

/// Returns the streams for all renders of an account, for one render, for one batch, and for operators.
pub(super) fn routes() -> Router<Web> {
    Router::new()
        .route("/dashboard/events/renders", get(of_all))
        .route("/dashboard/events/renders/{id}", get(of_one))
        // See `Signals::batch_changed`.
        .route("/dashboard/events/batches/{id}", get(of_one))
        .route("/admin/events/health", get(health::get))
}

async fn of_all(State(web): State<Web>, viewer: Viewer) -> Result<Response, StatusCode> {
    listen(web, viewer, None).await
}

async fn of_one(State(web): State<Web>, viewer: Viewer, Path(id): Path<String>) -> Result<Response, StatusCode> {
    // Renders that don't exist or belong to another account never change.
    let id = RenderId::parse(&id).ok_or(StatusCode::NOT_FOUND)?;
    listen(web, viewer, Some(id)).await
}

async fn listen(web: Web, viewer: Viewer, about: Option<RenderId>) -> Result<Response, StatusCode> {
    let account = viewer.caller(&web, Permission::Produce).await?.account;
    // Without events, the page remains usable and is merely out of date.
    let listening = web.app.jobs.changes().listen(account);
    let listening = listening.ok_or(StatusCode::SERVICE_UNAVAILABLE)?;
    let watch = Watch {
        web,
        viewer,
        account,
        about,
        listening,
        ask_again: every(ASK_AGAIN),
    };
    Ok(answer(watch.events()))
}

/// Creates an interval whose first tick is after `duration`.
fn every(duration: Duration) -> Interval {
    let mut ticks = interval(duration);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    ticks.reset();
    ticks
}

/// Responds with a stream of events. The headers are sent together with the first of them, so the stream begins with a
/// comment.
fn answer(events: impl Stream<Item = Result<Event, Infallible>> + Send + 'static) -> Response {
    let first = Event::default().retry(COME_BACK).comment("listening");
    let events = futures::StreamExt::chain(stream::iter([Ok(first)]), events);
    let events = Sse::new(events).keep_alive(KeepAlive::new().interval(HEARTBEAT));
    let headers = [
        (header::CACHE_CONTROL, "no-store"),
        // Prevents nginx from buffering the events.
        (HeaderName::from_static("x-accel-buffering"), "no"),
    ];
    (headers, events).into_response()
}

/// A page that listens for changes.
struct Watch {
    web: Web,
    viewer: Viewer,
    account: AccountId,
    about: Option<RenderId>,
    listening: Listening,
    ask_again: Interval,
}

impl Watch {
    /// Returns the events until the session or the service ends.
    fn events(self) -> impl Stream<Item = Result<Event, Infallible>> {
        stream::unfold(self, |mut watch| async move {
            loop {
                tokio::select! {
                    change = watch.listening.next() => {
                        let change = change?;
                        if watch.about.is_none_or(|render| change.is_about(render)) {
                            return Some((Ok(event(&change, watch.about)), watch));
                        }
                    }
                    _ = watch.ask_again.tick() => {
                        if !watch.is_welcome().await {
                            return None;
                        }
                    }
                }
            }
        })
    }

    /// Returns whether the user is still logged in and still a member of the account.
    async fn is_welcome(&mut self) -> bool {
        if !is_logged_in(&self.web, &mut self.viewer).await {
            return false;
        }
        let caller = self.viewer.caller(&self.web, Permission::Produce).await;
        caller.is_ok_and(|caller| caller.account == self.account)
    }
}

/// Returns whether the same user is still logged in, and reloads the data of their session.
async fn is_logged_in(web: &Web, viewer: &mut Viewer) -> bool {
    let (db, user) = (&web.app.db, viewer.person.user);
    match sessions::reload(db, &viewer.session, clock::now()).await {
        Ok(Some(person)) if person.user == user => {
            viewer.person = person;
            true
        }
        _ => false,
    }
}

fn event(change: &Change, about: Option<RenderId>) -> Event {
    let data = match (about, change) {
        (Some(render), _) => render.to_string(),
        (None, Change::Some) => SOME.to_owned(),
        (None, Change::Renders(renders)) => {
            let renders: Vec<_> = renders.iter().map(ToString::to_string).collect();
            renders.join(" ")
        }
    };
    Event::default().event(CHANGED).data(data)
}
