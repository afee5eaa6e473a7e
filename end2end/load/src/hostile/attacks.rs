//! The attacks, as data: requests, and how many are concurrent.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    io,
    net::{Ipv4Addr, SocketAddr},
    time::{Duration, Instant},
};

use futures::future::join_all;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpSocket, TcpStream},
    time::{interval, timeout},
};

use crate::hostile::{post, target::Target};

/// Outcome of a connection that the service closed without a response.
pub(crate) const CLOSED: &str = "closed";
/// Outcome of a connection that the service had not closed in time.
const STILL_OPEN: &str = "still open";
/// Upper bound on the duration of an attack.
const LONGEST: Duration = Duration::from_secs(70);
/// Interval between two bytes of a slow client.
const TRICKLE: Duration = Duration::from_secs(1);

/// An action of a hostile account.
pub(crate) struct Attack {
    pub(crate) name: &'static str,
    /// Concurrent requests or connections.
    pub(crate) at_once: usize,
    shot: Shot,
}

/// A request or connection of an attack.
enum Shot {
    /// A synchronous render with this body.
    Render(fn(&Target) -> String),
    /// A connection that sends this, then nothing, and reads nothing.
    Connect(fn(&Target) -> String),
    /// A connection that sends this, and then one byte at a time.
    Trickle(fn(&Target) -> String),
}

/// All attacks, in the order of execution.
pub(crate) const ATTACKS: &[Attack] = &[
    Attack {
        name: "a script's result of 50 million control characters",
        at_once: 1,
        shot: Shot::Render(|_| evaluating("'\\u0001'.repeat(5e7)")),
    },
    Attack {
        name: "a page that posts 120 MB",
        at_once: 1,
        shot: Shot::Render(|_| {
            evaluating("fetch('http://nowhere.invalid/', {method: 'POST', body: 'x'.repeat(12e7)}).catch(() => 0)")
        }),
    },
    Attack {
        name: "5.2 million numbers as parts",
        at_once: 1,
        shot: Shot::Render(|_| with_parts(&format!("[{}1]", "1,".repeat(5_200_000)))),
    },
    Attack {
        name: "six bodies of a million faulty parts",
        at_once: 6,
        shot: Shot::Render(|_| with_parts(&format!("[{}{{}}]", "{\"x\":1},".repeat(1_000_000)))),
    },
    Attack {
        name: "800,000 unknown members",
        at_once: 1,
        shot: Shot::Render(|_| {
            let mut body = "{\"output_encoding\":\"binary\",\"parts\":[\"<p>\"]".to_owned();
            for number in 0..800_000 {
                // Writing to a string cannot fail.
                let _ = write!(body, ",\"x{number}\":0");
            }
            body + "}"
        }),
    },
    Attack {
        name: "two contexts of 3 million numbers",
        at_once: 2,
        shot: Shot::Render(|target| {
            let template = &target.small_template;
            with_parts(&format!(
                "[{{\"type\":\"template\",\"content\":{{\"template_id\":\"{template}\",\
                 \"context\":{{\"name\":\"Ann\",\"numbers\":[{}1]}}}}}}]",
                "1,".repeat(3_000_000)
            ))
        }),
    },
    Attack {
        name: "a title of 50 KB 10,000 times in a header",
        at_once: 1,
        shot: Shot::Render(|_| titled(50_000, 10_000)),
    },
    Attack {
        name: "a title of 100 KB 50,000 times in a header",
        at_once: 1,
        shot: Shot::Render(|_| titled(100_000, 50_000)),
    },
    Attack {
        name: "ten times 50 templates of 15 MB",
        at_once: 10,
        shot: Shot::Render(|target| {
            let context = json!({"chunk": "x".repeat(10_000)});
            let content = json!({"template_id": target.growing_template, "context": context});
            binary(&json!(vec![json!({"type": "template", "content": content}); 50]))
        }),
    },
    Attack {
        name: "50 noisy pictures of 6000 × 6000",
        at_once: 1,
        shot: Shot::Render(|_| binary(&json!(vec![noise(6000); 50]))),
    },
    Attack {
        name: "ten pages that take six seconds",
        at_once: 10,
        shot: Shot::Render(|_| evaluating("new Promise(done => setTimeout(done, 6_000))")),
    },
    Attack {
        name: "2,500 connections that send nothing",
        at_once: 2_500,
        shot: Shot::Connect(|_| String::new()),
    },
    Attack {
        name: "2,500 connections that send half a header",
        at_once: 2_500,
        shot: Shot::Connect(|_| "POST /api/v1/renderers/pdf HTTP/1.1\r\nhost: platen\r\nx-half".to_owned()),
    },
    Attack {
        name: "200 bodies that trickle",
        at_once: 200,
        shot: Shot::Trickle(|target| head(target, 5_000)),
    },
    Attack {
        name: "two documents of 8 MB that nobody reads",
        at_once: 2,
        shot: Shot::Connect(|target| {
            let body = binary(&json!([noise(1_600)]));
            head(target, body.len()) + &body
        }),
    },
    Attack {
        name: "an exception of 100 million characters",
        at_once: 1,
        shot: Shot::Render(|_| evaluating("(() => { throw new Error('x'.repeat(1e8)) })()")),
    },
    Attack {
        name: "console messages of 100 million characters",
        at_once: 1,
        shot: Shot::Render(|_| evaluating("for (let i = 0; i < 100; i++) console.log('x'.repeat(1e6))")),
    },
    Attack {
        name: "parts nested 100,000 deep",
        at_once: 1,
        shot: Shot::Render(|_| with_parts(&nested())),
    },
];

impl Attack {
    /// Runs the attack and counts its outcomes by kind.
    pub(crate) async fn carry_out(&self, target: &Target) -> BTreeMap<String, usize> {
        let outcomes = match self.shot {
            Shot::Render(body) => {
                let body = bytes::Bytes::from(body(target));
                join_all((0..self.at_once).map(|_| rendered(target, body.clone()))).await
            }
            Shot::Connect(text) => {
                let text = text(target);
                join_all((0..self.at_once).map(|_| connected(target, &text, false))).await
            }
            Shot::Trickle(text) => {
                let text = text(target);
                join_all((0..self.at_once).map(|_| connected(target, &text, true))).await
            }
        };
        let mut counts = BTreeMap::new();
        for outcome in outcomes {
            *counts.entry(outcome).or_default() += 1;
        }
        counts
    }
}

async fn rendered(target: &Target, body: bytes::Bytes) -> String {
    match timeout(LONGEST, post(&target.client, body)).await {
        Ok(Ok(answer)) => {
            let pointer = answer.pointer.map(|pointer| format!(" {pointer}")).unwrap_or_default();
            format!("{}{pointer}", answer.status.as_u16())
        }
        Ok(Err(error)) if error.is_connect() => "no connection".to_owned(),
        Ok(Err(_)) => "no answer".to_owned(),
        Err(_) => STILL_OPEN.to_owned(),
    }
}

/// Opens a connection and returns how the service ended it, with the status if it sent one.
async fn connected(target: &Target, text: &str, trickles: bool) -> String {
    let start = Instant::now();
    let Ok(mut stream) = connect(target).await else {
        return "no connection".to_owned();
    };
    // The connection may already be closed, which is detected below.
    let _ = stream.write_all(text.as_bytes()).await;
    let mut pace = interval(TRICKLE);
    // Reads only the status line: reading the rest would turn this into a regular client.
    let mut beginning = [0; 12];
    let mut known = 0;
    while start.elapsed() < LONGEST {
        tokio::select! {
            read = stream.read(&mut beginning[known..]), if known < beginning.len() => match read {
                Ok(0) | Err(_) => break,
                Ok(read) => known += read,
            },
            _ = pace.tick() => {
                let ended = known == beginning.len() && has_ended(&stream);
                if ended || (trickles && stream.write_all(b" ").await.is_err()) {
                    break;
                }
            }
        }
    }
    match (known, start.elapsed() < LONGEST) {
        (0, true) => CLOSED.to_owned(),
        (_, true) => String::from_utf8_lossy(&beginning)
            .get(9..12)
            .unwrap_or(CLOSED)
            .to_owned(),
        (_, false) => STILL_OPEN.to_owned(),
    }
}

/// Connects from another address than the neighbour's, because connections are limited by network.
async fn connect(target: &Target) -> io::Result<TcpStream> {
    let socket = TcpSocket::new_v4()?;
    socket.bind((Ipv4Addr::new(127, 0, 0, 2), 0).into())?;
    let address = target.authority.parse::<SocketAddr>().map_err(io::Error::other)?;
    socket.connect(address).await
}

/// Returns whether the service has closed or reset the connection, as far as is detectable without reading.
fn has_ended(stream: &TcpStream) -> bool {
    // A connection that was reset has a pending error; one that was closed after its response fails the write. TCP_INFO
    // would be more precise.
    !matches!(stream.take_error(), Ok(None)) || stream.try_write(b" ").is_err()
}

/// Returns a body with these parts, given as JSON text.
pub(super) fn with_parts(parts: &str) -> String {
    format!("{{\"output_encoding\":\"binary\",\"parts\":{parts}}}")
}

/// Returns arrays nested 100,000 deep.
pub(super) fn nested() -> String {
    "[".repeat(100_000) + &"]".repeat(100_000)
}

/// Returns a body with these parts whose response is the document itself.
pub(super) fn binary(parts: &Value) -> String {
    with_parts(&parts.to_string())
}

/// Returns a body with one page and an expression to evaluate.
pub(super) fn evaluating(expression: &str) -> String {
    json!({"parts": ["<p>"], "evaluate_js": {"expression": expression}, "output_encoding": "binary"}).to_string()
}

/// Returns a body whose header contains a title of `title` bytes, `times` times.
pub(super) fn titled(title: usize, times: usize) -> String {
    json!({
        "parts": [format!("<title>{}</title><p>", "x".repeat(title)), "<p>"],
        "render_header_footer": true,
        "header_template": "<i class=title></i>".repeat(times),
        "output_encoding": "binary",
    })
    .to_string()
}

/// Returns a page that can't be compressed: a square image of noise.
fn noise(pixels: u32) -> String {
    format!(
        "<canvas width={pixels} height={pixels}></canvas><script>\
         const canvas = document.querySelector('canvas'), context = canvas.getContext('2d');\
         const image = context.createImageData({pixels}, {pixels}), words = new Uint32Array(image.data.buffer);\
         for (let i = 0; i < words.length; i += 16384) crypto.getRandomValues(words.subarray(i, i + 16384));\
         for (let i = 3; i < image.data.length; i += 4) image.data[i] = 255;\
         context.putImageData(image, 0, 0);</script>"
    )
}

/// Returns the head of a render request.
fn head(target: &Target, body_bytes: usize) -> String {
    format!(
        "POST /api/v1/renderers/pdf HTTP/1.1\r\nhost: platen\r\nauthorization: Bearer {}\r\n\
         content-type: application/json\r\ncontent-length: {body_bytes}\r\n\r\n",
        target.client.key
    )
}
