//! Promotions: a release of a template is given to a channel, at once or later, and to `production` after another member
//! has approved it if the account requires that. Going back to an earlier release of the channel is a promotion, too.

use platen_domain::{
    account_log::{AccountEvent, Actor},
    caller::Caller,
    ids::{AccountId, PromotionId, TemplateId},
    page::{Page, PageRequest},
    template::{
        ExpectedVersion,
        channels::Channels,
        identity::TemplateKind,
        promotions::{CHANNEL, Promotion, PromotionRequest, PromotionState, VERSION},
    },
    validation::{Problem, quote},
};
use sqlx::{PgConnection, PgPool};
use time::{OffsetDateTime, format_description::well_known::Rfc3339};

use crate::{
    clock,
    service::templates::{TemplateError, comparison::Compared, drafts, lock, settings::get_settings},
    store::{
        account_log,
        error::StoreError,
        statement::bounded,
        template_channels,
        template_promotions::{self, Candidate},
        tx,
    },
};

/// Maximum number of promotions of a template that wait for approval or for their time.
const MOST_OPEN: i64 = 20;
/// Ended promotions of a template that are kept. They don't count as storage, so that a full one prevents no rollback.
const KEPT: i64 = 100;
/// Promotions that are due and done together.
const BATCH: i64 = 50;

/// Returns a page of a template's promotions, the latest first.
pub async fn list(
    db: &PgPool,
    account: AccountId,
    id: TemplateId,
    page: PageRequest<PromotionId>,
) -> Result<Page<Promotion, PromotionId>, TemplateError> {
    get_settings(db, account, id).await?;
    let found = template_promotions::list(db, account, id, false, page).await?;
    Ok(page.page(found, |promotion| promotion.id))
}

/// Gives a channel another release, or stores the request until it is approved or due.
pub async fn request(
    db: &PgPool,
    caller: &Caller,
    id: TemplateId,
    request: PromotionRequest,
) -> Result<Promotion, TemplateError> {
    let (account, now) = (caller.account, clock::now());
    caller.channels.check(&request.channel)?;
    let mut transaction = tx::begin(db).await?;
    let channels = template_channels::share_channels(&mut transaction, account).await?;
    let template = lock(&mut transaction, account, id, &ExpectedVersion::Any).await?;
    let refused = |pointer: &str, detail: String| TemplateError::Invalid(vec![Problem::invalid(pointer, detail)]);
    if template.identity.kind == TemplateKind::Partial {
        let detail = "Partials have no channels: documents use their published versions once they are published";
        return Err(refused("", detail.to_owned()));
    }
    let preceding = channels
        .preceding(&request.channel)
        .ok_or_else(|| refused(CHANNEL, no_target(&channels, &request)))?;
    let candidate = template_promotions::find_candidate(
        &mut transaction,
        account,
        id,
        request.version,
        (preceding, &request.channel),
        caller.user.id,
    );
    let candidate = candidate
        .await?
        .ok_or_else(|| refused(VERSION, not_published(request.version)))?;
    if preceding != channels.first() && !candidate.was_in_preceding && !candidate.was_in_channel {
        let detail = format!(
            "Version {} has not been in {preceding} yet, which precedes {}. Promote it to {preceding} first",
            request.version, request.channel
        );
        return Err(refused(VERSION, detail));
    }
    if let Some(problem) = request.problem(now) {
        return Err(TemplateError::Invalid(vec![problem]));
    }
    if request.due_at.is_none() && candidate.current == Some(request.version) {
        let detail = format!("{} has version {} already", request.channel, request.version);
        return Err(refused(VERSION, detail));
    }
    let mut promotion = new_promotion(caller, request, candidate, now);
    if needs_approval(caller, &channels, &promotion, candidate) {
        promotion.state = PromotionState::AwaitingApproval;
    }
    if promotion.state.is_open() && template_promotions::count_open(&mut transaction, account, id).await? >= MOST_OPEN {
        let detail = format!("At most {MOST_OPEN} promotions of a template may wait. Cancel one, or wait");
        return Err(refused("", detail));
    }
    proceed(&mut transaction, account, id, &mut promotion, now).await?;
    template_promotions::insert(&mut transaction, account, id, &promotion).await?;
    template_promotions::delete_oldest(&mut transaction, account, id, KEPT).await?;
    let event = event(&template.name, &promotion);
    account_log::insert(&mut transaction, account, &Actor::of_caller(caller), &event, now).await?;
    tx::commit(transaction).await?;
    Ok(promotion)
}

/// Approves a promotion, which is then done, at once or when it is due. Returns its new state. Fails with
/// [`TemplateError::OwnRelease`] for the author of the release and for the user who requested its promotion, and with
/// [`TemplateError::NotCompared`] before the user has compared its pages with those that the channel has.
pub async fn approve(
    db: &PgPool,
    caller: &Caller,
    id: TemplateId,
    promotion: PromotionId,
) -> Result<PromotionState, TemplateError> {
    let (account, now, actor) = (caller.account, clock::now(), Actor::of_caller(caller));
    let mut transaction = tx::begin(db).await?;
    template_channels::share_channels(&mut transaction, account).await?;
    let name = lock(&mut transaction, account, id, &ExpectedVersion::Any).await?.name;
    let mut promotion = open(&mut transaction, account, id, promotion).await?;
    if promotion.state != PromotionState::AwaitingApproval {
        return Err(TemplateError::PromotionEnded);
    }
    if !promotion.may_be_approved_by(caller.user.id) {
        return Err(TemplateError::OwnRelease);
    }
    let missing = sets_to_compare(&mut transaction, caller, id, &promotion).await?;
    if missing > 0 {
        return Err(TemplateError::NotCompared { missing });
    }
    let approved = AccountEvent::TemplatePromotionApproved {
        name: name.clone(),
        version: promotion.version,
        channel: promotion.channel.to_string(),
    };
    promotion.approved_by = Some(caller.user.id);
    promotion.state = when_approved(promotion.due_at, now);
    proceed(&mut transaction, account, id, &mut promotion, now).await?;
    template_promotions::update(&mut transaction, account, &promotion).await?;
    for event in [approved, event(&name, &promotion)] {
        account_log::insert(&mut transaction, account, &actor, &event, now).await?;
    }
    tx::commit(transaction).await?;
    Ok(promotion.state)
}

/// Notes that a user has compared the pages of two versions with a set of sample data, which approvals require. `newest`
/// is the number of the newest version before.
pub async fn note_comparison(
    db: &PgPool,
    caller: &Caller,
    id: TemplateId,
    versions: Compared,
    newest: i32,
    set: &str,
) -> Result<(), StoreError> {
    let Compared { older, newer } = versions;
    let user = caller.user.id;
    template_promotions::insert_comparison(db, caller.account, id, user, (older, newer), newest, set).await
}

/// Returns the number of sets of sample data with which a user has yet to compare the pages of a promotion. There are none if
/// the channel has no other release.
async fn sets_to_compare(
    transaction: &mut PgConnection,
    caller: &Caller,
    id: TemplateId,
    promotion: &Promotion,
) -> Result<usize, TemplateError> {
    let account = caller.account;
    let releases = template_channels::list(&mut *transaction, account, id).await?;
    let current = releases
        .into_iter()
        .find(|release| release.channel == promotion.channel);
    let current = current.and_then(|release| release.version);
    let Some(current) = current.filter(|current| *current != promotion.version) else {
        return Ok(0);
    };
    let compared =
        template_promotions::list_compared_sets(transaction, account, promotion.id, caller.user.id, current).await?;
    let sets = drafts::set_names(&mut *transaction, account, id).await?;
    Ok(sets.iter().filter(|set| !compared.contains(set)).count())
}

/// Cancels a promotion that waits for its approval or its time.
pub async fn cancel(db: &PgPool, caller: &Caller, id: TemplateId, promotion: PromotionId) -> Result<(), TemplateError> {
    let (account, now) = (caller.account, clock::now());
    let mut transaction = tx::begin(db).await?;
    template_channels::share_channels(&mut transaction, account).await?;
    let name = lock(&mut transaction, account, id, &ExpectedVersion::Any).await?.name;
    let mut promotion = open(&mut transaction, account, id, promotion).await?;
    caller.channels.check(&promotion.channel)?;
    promotion.state = PromotionState::Cancelled;
    promotion.ended_at = Some(now);
    template_promotions::update(&mut transaction, account, &promotion).await?;
    let event = event(&name, &promotion);
    account_log::insert(&mut transaction, account, &Actor::of_caller(caller), &event, now).await?;
    Ok(tx::commit(transaction).await?)
}

/// Returns the promotions of a template that wait for their approval or time, the latest first.
pub async fn waiting(db: &PgPool, account: AccountId, id: TemplateId) -> Result<Vec<Promotion>, StoreError> {
    template_promotions::list(db, account, id, true, PageRequest::ALL).await
}

/// Does scheduled promotions of all accounts that are due.
pub async fn run_due(db: &PgPool, now: OffsetDateTime) -> Result<(), StoreError> {
    for (account, template, promotion) in bounded(template_promotions::list_due(db, now, BATCH)).await? {
        // Another one may wait for the lock of its template.
        match bounded(run(db, account, template, promotion, now)).await {
            // Another process has done it, or it was cancelled.
            Ok(()) | Err(TemplateError::NotFound | TemplateError::NoSuchPromotion | TemplateError::PromotionEnded) => {}
            Err(error) => tracing::warn!(%account, %template, %error, "scheduled promotion could not be done"),
        }
    }
    Ok(())
}

async fn run(
    db: &PgPool,
    account: AccountId,
    id: TemplateId,
    promotion: PromotionId,
    now: OffsetDateTime,
) -> Result<(), TemplateError> {
    let mut transaction = tx::begin(db).await?;
    let channels = template_channels::share_channels(&mut transaction, account).await?;
    let template = lock(&mut transaction, account, id, &ExpectedVersion::Any).await?;
    let mut promotion = open(&mut transaction, account, id, promotion).await?;
    if promotion.state != PromotionState::Scheduled {
        return Err(TemplateError::PromotionEnded);
    }
    let is_possible =
        template.identity.kind == TemplateKind::Document && channels.preceding(&promotion.channel).is_some();
    if is_possible {
        promotion.state = PromotionState::Done;
        proceed(&mut transaction, account, id, &mut promotion, now).await?;
    } else {
        promotion.state = PromotionState::Failed;
        promotion.ended_at = Some(now);
    }
    template_promotions::update(&mut transaction, account, &promotion).await?;
    let event = event(&template.name, &promotion);
    account_log::insert(&mut transaction, account, &Actor::SERVICE, &event, now).await?;
    Ok(tx::commit(transaction).await?)
}

/// Returns a promotion that has not ended, and locks it until the transaction ends.
async fn open(
    transaction: &mut PgConnection,
    account: AccountId,
    id: TemplateId,
    promotion: PromotionId,
) -> Result<Promotion, TemplateError> {
    let found = template_promotions::lock(transaction, account, id, promotion).await?;
    let found = found.ok_or(TemplateError::NoSuchPromotion)?;
    if found.state.is_open() {
        Ok(found)
    } else {
        Err(TemplateError::PromotionEnded)
    }
}

/// Gives the channel the release, if the promotion is in the state for that.
async fn proceed(
    transaction: &mut PgConnection,
    account: AccountId,
    id: TemplateId,
    promotion: &mut Promotion,
    now: OffsetDateTime,
) -> Result<(), StoreError> {
    if promotion.state == PromotionState::Done {
        let (channel, version) = (&promotion.channel, promotion.version);
        promotion.previous_version =
            template_channels::replace(transaction, account, id, channel, version, now).await?;
        promotion.ended_at = Some(now);
    }
    Ok(())
}

fn new_promotion(caller: &Caller, request: PromotionRequest, candidate: Candidate, now: OffsetDateTime) -> Promotion {
    Promotion {
        id: PromotionId::generate(),
        channel: request.channel,
        version: request.version,
        previous_version: None,
        state: when_approved(request.due_at, now),
        requested_by: Some(caller.user.id),
        approved_by: None,
        requester: None,
        approver: None,
        author: candidate.author,
        inserted_at: now,
        due_at: request.due_at,
        ended_at: None,
    }
}

/// Returns whether another member must approve a promotion: if it brings to `production` what has not been there, and the
/// user who requests it has taken part in that, or a key does, which others than its creator may hold.
fn needs_approval(caller: &Caller, channels: &Channels, promotion: &Promotion, candidate: Candidate) -> bool {
    let is_new = promotion.channel.is_production() && !candidate.was_in_channel;
    channels.need_approval() && is_new && (candidate.is_own || caller.key.is_some())
}

/// Returns the state of a promotion that needs no approval any more.
fn when_approved(due_at: Option<OffsetDateTime>, now: OffsetDateTime) -> PromotionState {
    match due_at {
        Some(due_at) if due_at > now => PromotionState::Scheduled,
        _ => PromotionState::Done,
    }
}

fn no_target(channels: &Channels, request: &PromotionRequest) -> String {
    if channels.are_off() {
        "The account has no channels but production, which has what is published. Its owner can add channels in the \
         account's settings"
            .to_owned()
    } else if request.channel == *channels.first() {
        format!(
            "{} is the first channel, which has what is published. Publish the version instead",
            request.channel
        )
    } else {
        format!(
            "No such channel: {}. The account's channels are {}",
            quote(request.channel.as_str()),
            channels.listed()
        )
    }
}

fn not_published(version: i32) -> String {
    format!("The template has no published version {version}. Publish it first, which fixes its partials")
}

/// Returns the audit event of a promotion that has just got its state.
fn event(name: &str, promotion: &Promotion) -> AccountEvent {
    let (name, version, channel) = (name.to_owned(), promotion.version, promotion.channel.to_string());
    match promotion.state {
        PromotionState::AwaitingApproval => AccountEvent::TemplatePromotionRequested { name, version, channel },
        PromotionState::Scheduled => AccountEvent::TemplatePromotionScheduled {
            name,
            version,
            channel,
            due: promotion
                .due_at
                .and_then(|due_at| due_at.format(&Rfc3339).ok())
                .unwrap_or_default(),
        },
        PromotionState::Done => AccountEvent::TemplatePromoted { name, version, channel },
        PromotionState::Cancelled => AccountEvent::TemplatePromotionCancelled { name, version, channel },
        PromotionState::Failed => AccountEvent::TemplatePromotionFailed { name, version, channel },
    }
}
