//! `/api/v1/credits`

use axum::{Json, extract::State};
use platen_core::{
    clock,
    service::{Services, credits},
    store::usage::PeriodUsage,
};
use serde::Serialize;
use time::OffsetDateTime;
use uuid::Uuid;

use crate::http::{error::ApiError, extract::MayReadUsage};

/// The account's credit usage in the current period.
#[derive(Serialize)]
pub(in crate::http) struct CreditsResponse {
    data: CreditsUsage,
}

#[derive(Serialize)]
struct CreditsUsage {
    credits_total: i64,
    credits_used: i64,
    plan_name: String,
    #[serde(with = "time::serde::rfc3339")]
    period_start: OffsetDateTime,
    #[serde(with = "time::serde::rfc3339")]
    period_end: OffsetDateTime,
    usage_details: Vec<UsageItem>,
}

/// Credits of one meter on one UTC day, limited to the part of the day within the period.
#[derive(Serialize)]
struct UsageItem {
    id: Uuid,
    meter: String,
    aggregated_value: i64,
    #[serde(with = "time::serde::rfc3339")]
    start_time: OffsetDateTime,
    #[serde(with = "time::serde::rfc3339")]
    end_time: OffsetDateTime,
    livemode: bool,
}

/// `GET`: returns the usage in the current period.
pub(in crate::http) async fn get(
    State(app): State<Services>,
    MayReadUsage(caller): MayReadUsage,
) -> Result<Json<CreditsResponse>, ApiError> {
    let usage = credits::usage(&app.db, caller.account, clock::now()).await?;
    Ok(Json(CreditsResponse { data: usage.into() }))
}

impl From<PeriodUsage> for CreditsUsage {
    fn from(usage: PeriodUsage) -> Self {
        let period = usage.balance.period;
        let items = usage.days.into_iter().map(|day| {
            let (start_time, end_time) = period.part_of(day.day);
            UsageItem {
                id: day.id,
                meter: day.meter,
                aggregated_value: day.credits,
                start_time,
                end_time,
                livemode: day.livemode,
            }
        });
        Self {
            credits_total: usage.balance.total(),
            credits_used: usage.balance.used,
            plan_name: usage.plan,
            period_start: period.starts_at,
            period_end: period.ends_at,
            usage_details: items.collect(),
        }
    }
}
