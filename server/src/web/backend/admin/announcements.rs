//! Announcements.

use async_trait::async_trait;
use platen_app::{backend::admin::announcements::AnnouncementBackend, error::AppError, model::rejection::Field};
use platen_core::{clock, service::announcements};
use platen_domain::{
    announcement::{Announcement, AnnouncementField, AnnouncementForm, NewAnnouncement},
    audit_log::AuditActor,
    ids::AnnouncementId,
};
use time::OffsetDateTime;

use super::super::{RequestBackend, invalid};

#[async_trait]
impl AnnouncementBackend for RequestBackend {
    async fn announcements(&self) -> Result<(Vec<Announcement>, OffsetDateTime), AppError> {
        self.operator().await?;
        let found = announcements::list(&self.app.db).await;
        let found = found.map_err(|error| self.internal(&error))?;
        Ok((found, clock::now()))
    }

    async fn announce(&self, form: AnnouncementForm) -> Result<(), AppError> {
        let (operator, now) = (self.confirmed_operator().await?, clock::now());
        let new =
            NewAnnouncement::parse(&form, now).map_err(|fields| invalid(fields.into_iter().map(field).collect()))?;
        let actor = AuditActor::of_operator(&operator);
        let announced = announcements::announce(&self.app.db, &actor, &new, now).await;
        announced.map_err(|error| self.internal(&error))
    }

    async fn end_announcement(&self, id: String) -> Result<(), AppError> {
        let (operator, now) = (self.confirmed_operator().await?, clock::now());
        let id = AnnouncementId::parse(&id).ok_or(AppError::NotFound)?;
        let actor = AuditActor::of_operator(&operator);
        let ended = announcements::end(&self.app.db, &actor, id, now).await;
        let ended = ended.map_err(|error| self.internal(&error))?;
        ended.then_some(()).ok_or(AppError::NotFound)
    }

    async fn hide_announcement(&self, id: String) -> Result<(), AppError> {
        let user = self.user()?;
        let Some(id) = AnnouncementId::parse(&id) else {
            return Ok(());
        };
        let hidden = announcements::hide(&self.app.db, user, id).await;
        hidden.map_err(|error| self.internal(&error))
    }
}

fn field(field: AnnouncementField) -> Field {
    match field {
        AnnouncementField::Words => Field::AnnouncementWords,
        AnnouncementField::LinkAddress => Field::LinkAddress,
        AnnouncementField::LinkWords => Field::LinkWords,
        AnnouncementField::Level => Field::Level,
        AnnouncementField::StartsAt => Field::StartsAt,
        AnnouncementField::EndsAt => Field::EndsAt,
    }
}
