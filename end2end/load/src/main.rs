//! Measures Platen against the raw limit; see `make bench`.

mod devtools;
mod document;
mod error;
mod measure;
mod pages;
mod processes;
mod raw;
mod statistics;

#[tokio::main]
async fn main() -> Result<(), error::LoadError> {
    let mut raw = raw::RawPeer::start(std::path::Path::new("/usr/lib/chromium/chromium-headless-shell"), 4).await?;
    println!("{}", raw.version().await?);
    let limit = measure::Limit { time: std::time::Duration::from_secs(2), renders: 100_000, warm_up: true };
    for load in [pages::hello(), pages::invoice(), pages::scripted_invoice(), pages::table()] {
        let load = std::sync::Arc::new(load);
        for c in [1, 2, 4] {
            for after in [raw::After::Nothing, raw::After::Reset] {
                match raw.measure_warm(&load, after, c, limit).await {
                Ok((round, doc)) => {
                println!("{} {c} {after:?} {round:?}", load.name);
                std::fs::write(format!("/tmp/load/{}.pdf", load.name), doc)?; }
                Err(e) => println!("{e}"),}
            }
            println!("{} {c} fresh {:?}", load.name, raw.measure_fresh_tabs(&load, c, limit).await);
        }
    }
    raw.close().await
}
