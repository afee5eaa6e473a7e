//! What open pages are told: which renders of their account have changed. A stream of events as HTML defines them
//! (`EventSource`), for the person who is logged in and as long as they are.

mod health;

use std::{convert::Infallible, time::Duration};

use axum::{
    Router,
    extract::{Path, State},
    http::{HeaderName, HeaderValue, StatusCode, header},
    response::{
        IntoResponse, Response,
        sse::{Event, KeepAlive, Sse},
    },
    routing::get,
};
use futures::{Stream, stream};
use platen_app::model::role::Permission;
use tokio::time::{Interval, MissedTickBehavior, interval};

use crate::{
    clock,
    domain::ids::{AccountId, RenderId},
    jobs::changes::{Change, Listening},
    service::sessions,
    web::{Web, viewer::Viewer},
};

/// Proxies end connections on which nothing is said.
const HEARTBEAT: Duration = Duration::from_secs(15);
/// Whoever logs out, or leaves the account, hears nothing more after so long.
const ASK_AGAIN: Duration = Duration::from_secs(20);
/// A browser that has lost the connection comes back after so long.
const COME_BACK: Duration = Duration::from_secs(3);
const CHANGED: &str = "changed";
/// Which renders is not known.
const SOME: &str = "*";

/// Streams of all renders of an account, of one, and for operators.
pub(super) fn routes() -> Router<Web> {
    Router::new()
        .route("/dashboard/events/renders", get(of_all))
        .route("/dashboard/events/renders/{id}", get(of_one))
        .route("/admin/events/health", get(health::get))
}

async fn of_all(State(web): State<Web>, viewer: Viewer) -> Response {
    listen(web, viewer, None).await
}

async fn of_one(State(web): State<Web>, viewer: Viewer, Path(id): Path<String>) -> Response {
    // Another account's render, or none at all, never changes.
    match RenderId::parse(&id) {
        Some(id) => listen(web, viewer, Some(id)).await,
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

async fn listen(web: Web, viewer: Viewer, about: Option<RenderId>) -> Response {
    let account = match viewer.caller(&web, Permission::Produce).await {
        Ok(caller) => caller.account,
        Err(status) => return status.into_response(),
    };
    // A page without news is as good as one that is told late.
    let Some(listening) = web.app.jobs.changes().listen(account) else {
        return StatusCode::SERVICE_UNAVAILABLE.into_response();
    };
    let watch = Watch {
        web,
        viewer,
        account,
        about,
        listening,
        ask_again: every(ASK_AGAIN),
    };
    answer(watch.events())
}

/// Ticks for the first time when the first interval is over.
fn every(duration: Duration) -> Interval {
    let mut ticks = interval(duration);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    ticks.reset();
    ticks
}

/// The answer that tells of these events. Its head is sent with the first of its body.
fn answer(events: impl Stream<Item = Result<Event, Infallible>> + Send + 'static) -> Response {
    let first = Event::default().retry(COME_BACK).comment("listening");
    let events = futures::StreamExt::chain(stream::iter([Ok(first)]), events);
    let events = Sse::new(events).keep_alive(KeepAlive::new().interval(HEARTBEAT));
    let headers = [
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
        // Nginx would collect what comes in small pieces.
        (
            HeaderName::from_static("x-accel-buffering"),
            HeaderValue::from_static("no"),
        ),
    ];
    (headers, events).into_response()
}

/// One page that listens.
struct Watch {
    web: Web,
    viewer: Viewer,
    account: AccountId,
    about: Option<RenderId>,
    listening: Listening,
    ask_again: Interval,
}

impl Watch {
    /// Until the session or the service ends.
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

    /// Whether the person is still logged in, and the account still theirs.
    async fn is_welcome(&mut self) -> bool {
        if !is_logged_in(&self.web, &mut self.viewer).await {
            return false;
        }
        let caller = self.viewer.caller(&self.web, Permission::Produce).await;
        caller.is_ok_and(|caller| caller.account == self.account)
    }
}

/// Whether the same person is still logged in; what their session says of them is read anew.
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
