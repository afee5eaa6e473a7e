//! Renders without browsers, to measure what surrounds them. Only benchmarks enable this feature.

use std::time::Duration;

use crate::{
    Engine, Entered,
    config::EngineConfig,
    error::RenderError,
    job::{Phase, RenderedDocument},
    render_log::RenderLog,
};

/// Stands in for the browsers.
#[derive(Debug, Clone)]
pub struct Simulation {
    /// Duration of each render.
    pub time: Duration,
    /// The file that each render returns; it need not be a PDF.
    pub pdf: Vec<u8>,
}

impl Engine {
    /// Creates an engine that starts no browsers. It has the admission queue and the slots of the settings.
    pub fn simulate(config: EngineConfig, simulation: Simulation) -> Self {
        Self {
            simulation: Some(simulation),
            ..Self::new(config)
        }
    }
}

impl Simulation {
    pub(crate) async fn render(&self, entered: &Entered, log: &RenderLog) -> Result<RenderedDocument, RenderError> {
        entered.accepted().await;
        entered.within(Phase::Print, log, tokio::time::sleep(self.time)).await?;
        Ok(RenderedDocument {
            pdf: self.pdf.clone(),
            conformance: Vec::new(),
            findings: Vec::new(),
            low_contrast: Vec::new(),
            page_count: 1,
            pages_by_part: vec![1],
            title: None,
            warnings: Vec::new(),
        })
    }
}
