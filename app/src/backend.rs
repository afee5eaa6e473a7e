//! Interface between pages and services. The server implements [`Backend`] and provides it in the context of every
//! request, for pages and server functions alike.

pub mod batches;

use std::{pin::Pin, sync::Arc};

use async_trait::async_trait;
use futures::Stream;
use leptos::prelude::use_context;
use platen_domain::{
    account_directory::{DirectoryPage, DirectorySearch},
    account_log::ActivityFilter,
    announcement::{Announcement, AnnouncementForm},
    asset::AssetFilter,
    audit_log::{AuditFilter, AuditRow},
    download_link::DocumentLinks,
    editor::{SampleSet, SavedTemplate, UnpublishedChanges},
    failed_jobs::Done,
    ids::{
        AccountId, AnnouncementId, ApiKeyId, AssetId, ConnectionId, DeliveryId, DeviceId, EndpointId, EventId,
        InstanceId, InvitationId, PasskeyId, PromotionId, RenderId, SessionId, TemplateId, UserId,
    },
    one_time_token::Purpose,
    page::Page,
    plan::Plan,
    render::{detail::RenderDetail, log::LogFilter, structure::RenderStructure},
    role::Role,
    second_factor::Ways,
    team::{Guest, OpenedInvitation},
    template::{
        EditedTemplate, TemplateFilter, TemplateGlance, channels::Channels, identity::TemplateKind,
        promotions::PromotionState,
    },
};
use time::OffsetDateTime;

use crate::{
    backend::batches::BatchBackend,
    error::AppError,
    model::{
        account_summary::AccountSummary,
        admin::{
            OperatorStanding,
            accounts::AccountFile,
            failed_jobs::{ChosenWork, FailedWorkPage, FailedWorkSearch},
            health::Health,
        },
        api_key::{ApiKeys, KeyDetail, KeySettingsForm, NewKeyForm},
        asset::{AssetDetail, Assets, Fonts},
        connection::{ConnectionEdit, ConnectionForm, Connections},
        delivery::{DeliverySearch, EndpointForm, Webhooks},
        live_preview::{PreviewEvent, PreviewRequest},
        money::Money,
        overview::{Activity, Span},
        own_path::OwnPath,
        payment::Payment,
        person::{LogIn, LogInStep, Proof, SecondStepProof, SignUp},
        playground::{Attempt, Bench, Played, Replayed},
        render::RenderPage,
        second_factor::{NewPasskey, SetUp},
        settings::Settings,
        team::{LogPage, OwnAccount, Team},
        template::{GeneratedData, NewTemplateForm, PublicationForm, TemplateForm},
        template_releases::Releases,
        template_settings::TemplateSettings,
        template_versions::{PageComparisons, Versions},
        usage::Usage,
    },
};

/// Events of a preview, in order.
pub type PreviewEvents = Pin<Box<dyn Stream<Item = Result<PreviewEvent, AppError>> + Send>>;

/// The services, on behalf of one request. Callers need not check who is logged in: each method authenticates the
/// session, checks the permission and acts for the session's account, except for those of log-in, sign-up, password reset
/// and invitations, [`Backend::mail_sent_to`], [`Backend::address_of_link`] and [`Backend::plans`], which are public.
#[async_trait]
pub trait Backend: BatchBackend {
    /// Returns the public base URL of the service, without a trailing slash.
    fn base_url(&self) -> String;

    /// Returns whether the visitor is logged in.
    fn is_logged_in(&self) -> bool;

    /// Returns the CSRF token for forms of the visitor's pages, or `None` without a session.
    fn csrf_token(&self) -> Option<String>;

    // The account.

    /// Returns the logged-in user, the account and what its pages show everywhere.
    async fn summary(&self) -> Result<AccountSummary, AppError>;

    /// Returns the role of the logged-in user in the account.
    async fn role(&self) -> Result<Role, AppError>;

    /// Returns the account's renders and figures over `span`. A key that was just created is included with the
    /// checklist, once.
    async fn activity(&self, span: Span, new_key: Option<ApiKeyId>) -> Result<Activity, AppError>;

    /// Dismisses the checklist of the first steps for the logged-in user.
    async fn dismiss_checklist(&self) -> Result<(), AppError>;

    /// Returns the credits used in this period, by day.
    async fn usage(&self) -> Result<Usage, AppError>;

    /// Hides an announcement for the logged-in user.
    async fn hide_announcement(&self, id: AnnouncementId) -> Result<(), AppError>;

    // Log-in, sign-up and password reset.

    /// Logs the visitor in, or begins the second step if a second factor is required.
    async fn log_in(&self, form: LogIn) -> Result<LogInStep, AppError>;

    /// Starts a second-factor challenge. Returns `None` if the visitor has not passed the first step, or it has
    /// expired.
    async fn second_step(&self) -> Result<Option<Ways>, AppError>;

    /// Logs the visitor in after the second step. With `remember`, this browser skips it for a while.
    async fn log_in_by_second_factor(&self, proof: SecondStepProof, remember: bool) -> Result<(), AppError>;

    /// Logs the visitor out. Does nothing if they are not logged in.
    async fn log_out(&self) -> Result<(), AppError>;

    /// Mails a link that completes a sign-up.
    async fn sign_up(&self, form: SignUp) -> Result<(), AppError>;

    /// Mails the sign-up link again, if a sign-up with this address is pending.
    async fn send_sign_up_again(&self, email: String) -> Result<(), AppError>;

    /// Completes a sign-up with the token of its link and the chosen password, and logs the user in.
    async fn verify_sign_up(&self, token: String, password: String) -> Result<(), AppError>;

    /// Mails a password reset link to the user with this address.
    async fn request_password_reset(&self, email: String) -> Result<(), AppError>;

    /// Replaces a password, by the token of a reset link.
    async fn reset_password(&self, token: String, password: String) -> Result<(), AppError>;

    /// Confirms the logged-in user's new email address, by the token of a mailed link.
    async fn confirm_email(&self, token: String) -> Result<(), AppError>;

    /// Returns the address to which the visitor's last mail of a sign-up or password reset went, for an hour.
    async fn mail_sent_to(&self) -> Result<Option<String>, AppError>;

    /// Returns the address to which the link with this token was mailed, while it is valid.
    async fn address_of_link(&self, purpose: Purpose, token: String) -> Result<Option<String>, AppError>;

    /// Lists the plans on offer with their prices per month, the smallest first.
    async fn plans(&self) -> Result<Vec<(Plan, Money)>, AppError>;

    // Second factor, remembered browsers, and confirmation of the user's identity.

    /// Starts a challenge for each second factor that the user has set up.
    async fn ask_for_second_factor(&self) -> Result<Ways, AppError>;

    /// Returns the state of the setup, with recovery codes that were just created.
    async fn second_factor(&self) -> Result<SetUp, AppError>;

    /// Creates a secret for an authenticator app.
    async fn begin_second_factor(&self) -> Result<(), AppError>;

    /// Enables the authenticator app with its first code.
    async fn turn_second_factor_on(&self, code: String) -> Result<(), AppError>;

    /// Removes the authenticator app.
    async fn turn_second_factor_off(&self) -> Result<(), AppError>;

    /// Starts adding a passkey, if the user has confirmed their identity.
    async fn begin_passkey(&self) -> Result<(), AppError>;

    /// Starts the registration of a passkey.
    async fn ask_for_new_passkey(&self) -> Result<NewPasskey, AppError>;

    /// Adds the registered passkey. Returns whether recovery codes were created with it, which must be shown.
    async fn add_passkey(&self, name: String, answer: String) -> Result<bool, AppError>;

    /// Removes a passkey.
    async fn remove_passkey(&self, id: PasskeyId) -> Result<(), AppError>;

    /// Replaces the remaining recovery codes.
    async fn renew_recovery_codes(&self) -> Result<(), AppError>;

    /// Forgets a browser, which must show the second factor again.
    async fn forget_device(&self, id: DeviceId) -> Result<(), AppError>;

    /// Confirms the user's identity for ten minutes. Sensitive actions are refused without it.
    async fn confirm(&self, proof: Proof) -> Result<(), AppError>;

    // Settings of the user and of the account.

    /// Returns all settings.
    async fn settings(&self) -> Result<Settings, AppError>;

    /// Renames the user.
    async fn rename(&self, name: String) -> Result<(), AppError>;

    /// Mails a confirmation link to a new address, which applies once the link is followed.
    async fn request_email_change(&self, email: String) -> Result<(), AppError>;

    /// Replaces the user's password and ends their other sessions.
    async fn change_password(&self, password: String) -> Result<(), AppError>;

    /// Renames the account.
    async fn rename_account(&self, name: String) -> Result<(), AppError>;

    /// Sets whether the content of requests is stored after their renders have ended.
    async fn keep_content(&self, keep: bool) -> Result<(), AppError>;
    async fn set_document_links(&self, links: DocumentLinks) -> Result<(), AppError>;

    /// Sets the channels of templates before `production`, separated by commas, and whether promotions to `production` need
    /// the approval of another member.
    async fn set_channels(&self, before_production: String, approval: bool) -> Result<(), AppError>;

    /// Sets the day from which all members need a second factor. Empty: no requirement.
    async fn require_second_factor(&self, from: String) -> Result<(), AppError>;

    /// Starts an export of all data of the account.
    async fn request_export(&self) -> Result<(), AppError>;

    /// Ends one of the user's sessions.
    async fn end_session(&self, id: SessionId) -> Result<(), AppError>;

    /// Ends all sessions of the user except this one.
    async fn end_other_sessions(&self) -> Result<(), AppError>;

    /// Schedules deletion of the account in seven days, if `name` is its name.
    async fn request_deletion(&self, name: String) -> Result<(), AppError>;

    /// Cancels the scheduled deletion.
    async fn undo_deletion(&self) -> Result<(), AppError>;

    // Members, invitations and activity.

    /// Returns members and invitations.
    async fn team(&self) -> Result<Team, AppError>;

    /// Mails invitations to one or more addresses, separated by commas.
    async fn invite(&self, emails: String, role: Role) -> Result<(), AppError>;

    /// Mails an invitation again, with a new link.
    async fn invite_again(&self, id: InvitationId) -> Result<(), AppError>;

    /// Revokes an invitation.
    async fn withdraw_invitation(&self, id: InvitationId) -> Result<(), AppError>;

    /// Changes a member's role to admin or member.
    async fn change_role(&self, user: UserId, role: Role) -> Result<(), AppError>;

    /// Removes a member from the account.
    async fn remove_member(&self, user: UserId) -> Result<(), AppError>;

    /// Removes the logged-in user from the account.
    async fn leave_account(&self) -> Result<(), AppError>;

    /// Transfers ownership to another member.
    async fn hand_over(&self, user: UserId) -> Result<(), AppError>;

    /// Returns the invitation to which a link leads, and who has opened it.
    async fn invitation(&self, token: String) -> Result<(OpenedInvitation, Guest), AppError>;

    /// Accepts an invitation for the logged-in user.
    async fn accept_invitation(&self, token: String) -> Result<(), AppError>;

    /// Accepts an invitation as a new user, and logs them in.
    async fn join_as_new(&self, token: String, name: String, password: String) -> Result<(), AppError>;

    /// Lists the accounts of the logged-in user.
    async fn own_accounts(&self) -> Result<Vec<OwnAccount>, AppError>;

    /// Switches the session to another of the user's accounts.
    async fn switch_account(&self, id: AccountId) -> Result<(), AppError>;

    /// Returns a page of the account's activity.
    async fn account_log(&self, filter: ActivityFilter, after: Option<EventId>) -> Result<LogPage, AppError>;

    // API keys.

    /// Lists all keys. A key that was just created is included with its secret, once.
    async fn api_keys(&self, new: Option<ApiKeyId>) -> Result<ApiKeys, AppError>;

    /// Returns a key, and the renders that were made with it.
    async fn api_key(&self, id: ApiKeyId, span: Span) -> Result<KeyDetail, AppError>;

    /// Changes the settings of a key. Its mode stays.
    async fn edit_key(&self, id: ApiKeyId, form: KeySettingsForm) -> Result<(), AppError>;

    /// Creates a key. The next call of [`Self::api_keys`] returns its secret.
    async fn create_key(&self, form: NewKeyForm) -> Result<ApiKeyId, AppError>;

    /// Creates a replacement for a key, which stays valid for `overlap_hours`.
    async fn rotate_key(&self, id: ApiKeyId, overlap_hours: u16) -> Result<ApiKeyId, AppError>;

    /// Revokes a key at once, if `name` is its name.
    async fn revoke_key(&self, id: ApiKeyId, name: String) -> Result<(), AppError>;

    // Storage connections.

    /// Lists all connections.
    async fn connections(&self) -> Result<Connections, AppError>;

    /// Creates a connection and tests it. Like the next three, returns its id if the test failed.
    async fn connect_bucket(&self, form: ConnectionForm) -> Result<Option<ConnectionId>, AppError>;

    /// Changes the name, region and endpoint of a connection and tests it.
    async fn edit_connection(&self, id: ConnectionId, form: ConnectionEdit) -> Result<Option<ConnectionId>, AppError>;

    /// Replaces the credentials of a connection, if documents can be written with those of the form.
    async fn rotate_credentials(
        &self,
        id: ConnectionId,
        form: ConnectionForm,
    ) -> Result<Option<ConnectionId>, AppError>;

    /// Tests a connection and records the result.
    async fn test_connection(&self, id: ConnectionId) -> Result<Option<ConnectionId>, AppError>;

    /// Deletes a connection and its credentials, if `name` is its name.
    async fn delete_connection(&self, id: ConnectionId, name: String) -> Result<(), AppError>;

    // Payment; all but `payment` are for owners only.

    /// Returns the catalog, the subscription and the billing details. `choice` is the plan that the user has selected.
    /// With `back`, the user has just paid: the state is read from Stripe at once instead of after its webhook.
    async fn payment(&self, choice: Option<String>, back: bool) -> Result<Payment, AppError>;

    /// Returns the address of the checkout page for a plan.
    async fn subscribe(&self, plan: String) -> Result<String, AppError>;

    /// Returns the address of the checkout page for a credit pack.
    async fn buy_credits(&self, product: String) -> Result<String, AppError>;

    /// Returns the address of the Stripe page where card, address and tax id are changed.
    async fn payment_portal(&self) -> Result<String, AppError>;

    /// Switches to another plan. `as_of` is the time for which the displayed amount was calculated, in Unix seconds.
    async fn change_plan(&self, plan: String, as_of: i64) -> Result<(), AppError>;

    /// Cancels a scheduled change to a smaller plan.
    async fn keep_plan(&self) -> Result<(), AppError>;

    /// Sets how many credits may be used beyond those of each period, as typed. Empty means 0.
    async fn set_overage_limit(&self, credits: String) -> Result<(), AppError>;

    /// Cancels the subscription at the end of its period.
    async fn cancel_subscription(&self) -> Result<(), AppError>;

    /// Undoes [`Self::cancel_subscription`].
    async fn resume_subscription(&self) -> Result<(), AppError>;

    // Renders and their webhook deliveries.

    /// Returns a page of renders. `search` is an id, or part of a title or of a template's name.
    async fn renders(&self, filter: LogFilter, search: String, after: Option<RenderId>)
    -> Result<RenderPage, AppError>;

    /// Returns the ids and titles of the latest renders whose titles contain a text, newest first.
    async fn find_renders_by_title(&self, search: String) -> Result<Vec<(RenderId, String)>, AppError>;

    /// Returns the details of a render.
    async fn render(&self, id: RenderId) -> Result<RenderDetail, AppError>;

    /// Returns the structure of a render's document.
    async fn render_structure(&self, id: RenderId) -> Result<RenderStructure, AppError>;

    /// Cancels an asynchronous render.
    async fn cancel_render(&self, id: RenderId) -> Result<(), AppError>;

    /// Revokes all links to the document of a render.
    async fn revoke_links(&self, id: RenderId) -> Result<(), AppError>;

    /// Returns the endpoints, the signing secret and a page of deliveries.
    async fn webhooks(&self, search: DeliverySearch) -> Result<Webhooks, AppError>;

    /// Retries the delivery of a render at once.
    async fn resend_callback(&self, render: RenderId) -> Result<(), AppError>;

    /// Discards the delivery of a render.
    async fn stop_callback(&self, render: RenderId) -> Result<(), AppError>;

    /// Creates a webhook endpoint.
    async fn create_endpoint(&self, form: EndpointForm) -> Result<(), AppError>;

    /// Changes a webhook endpoint.
    async fn edit_endpoint(&self, id: EndpointId, form: EndpointForm) -> Result<(), AppError>;

    /// Enables or disables a webhook endpoint.
    async fn switch_endpoint(&self, id: EndpointId, enable: bool) -> Result<(), AppError>;

    /// Sends a test event to a webhook endpoint.
    async fn test_endpoint(&self, id: EndpointId) -> Result<(), AppError>;

    /// Deletes a webhook endpoint.
    async fn delete_endpoint(&self, id: EndpointId) -> Result<(), AppError>;

    /// Sends an event to its endpoint again.
    async fn resend_delivery(&self, id: DeliveryId) -> Result<(), AppError>;

    /// Stops the delivery of an event to an endpoint.
    async fn stop_delivery(&self, id: DeliveryId) -> Result<(), AppError>;

    /// Shows the signing secret in this session for one minute.
    async fn reveal_webhook_secret(&self) -> Result<(), AppError>;

    /// Replaces the signing secret. The previous one keeps signing for a day.
    async fn replace_webhook_secret(&self) -> Result<(), AppError>;

    // Templates.

    /// Returns a page of templates, each with a text that distinguishes it from others with the same name.
    async fn templates(
        &self,
        filter: TemplateFilter,
        after: Option<TemplateId>,
    ) -> Result<Page<(TemplateGlance, Option<String>), TemplateId>, AppError>;

    /// Returns the assets that the filter admits, newest first, after this one, and the upload that led to the page.
    async fn assets(&self, filter: AssetFilter, after: Option<AssetId>) -> Result<Assets, AppError>;

    /// Returns the newest assets whose names contain `search`.
    async fn find_assets(&self, search: &str) -> Result<Vec<(AssetId, String)>, AppError>;

    /// Returns the fonts whose families or names contain `search`.
    async fn fonts(&self, search: Option<String>) -> Result<Fonts, AppError>;

    /// Returns an asset.
    async fn asset(&self, id: AssetId) -> Result<AssetDetail, AppError>;

    /// Replaces the tags of an asset, given with commas between them.
    async fn set_asset_tags(&self, id: AssetId, tags: String) -> Result<(), AppError>;

    /// Deletes an asset.
    async fn delete_asset(&self, id: AssetId) -> Result<(), AppError>;

    /// Returns a template in its newest version.
    async fn template(&self, id: TemplateId) -> Result<EditedTemplate, AppError>;

    /// Returns the channels of the account's templates.
    async fn channels(&self) -> Result<Channels, AppError>;

    /// Returns the sets of sample data of a template, as the editor shows them. The first one is that of the newest
    /// version.
    async fn sample_sets(&self, id: TemplateId) -> Result<Vec<SampleSet>, AppError>;

    /// Adds values to sample data for everything that a template uses and the data lacks.
    async fn generate_sample(&self, content: String, data: String) -> Result<GeneratedData, AppError>;

    /// Compares the editor's HTML and translations with the published version.
    async fn unpublished_changes(
        &self,
        id: String,
        content: String,
        translations: String,
    ) -> Result<UnpublishedChanges, AppError>;

    /// Lists the versions of a template. With `from`, compares that version with `to`, by default the newest; the one with
    /// the lower number is the older one.
    async fn template_versions(&self, id: TemplateId, from: Option<i32>, to: Option<i32>)
    -> Result<Versions, AppError>;

    /// Returns two versions of a template, by default the published and the newest one, with the names of the sets of
    /// sample data. With `set`, renders both versions with this set and compares their pages.
    async fn page_comparisons(
        &self,
        id: TemplateId,
        older: Option<i32>,
        newer: Option<i32>,
        set: Option<String>,
    ) -> Result<PageComparisons, AppError>;

    /// Returns the settings of a template, and the templates that use it as a partial.
    async fn template_settings(&self, id: TemplateId) -> Result<TemplateSettings, AppError>;

    /// Changes kind and handle of a template. The handle of a document may be empty.
    async fn change_template_kind(&self, id: TemplateId, kind: TemplateKind, handle: String) -> Result<(), AppError>;

    /// Publishes templates that use a partial again, given with the numbers of their published versions. Those that can't
    /// be published don't prevent the others.
    async fn publish_users_of_partial(&self, id: TemplateId, users: Vec<(TemplateId, i32)>) -> Result<(), AppError>;

    /// Returns the releases of a template by channel, with its latest promotions.
    async fn template_releases(&self, id: TemplateId) -> Result<Releases, AppError>;

    /// Promotes a version to a channel, at once or at a time in UTC, such as `2027-01-31T18:00`. Returns the state of the
    /// promotion.
    async fn promote_template(
        &self,
        id: TemplateId,
        channel: String,
        version: i32,
        due_at: String,
    ) -> Result<PromotionState, AppError>;

    /// Approves a promotion that another member has requested. Returns its new state.
    async fn approve_promotion(&self, id: TemplateId, promotion: PromotionId) -> Result<PromotionState, AppError>;

    /// Cancels a promotion that waits for its approval or its time.
    async fn cancel_promotion(&self, id: TemplateId, promotion: PromotionId) -> Result<(), AppError>;

    /// Creates a template and returns its id.
    async fn create_template(&self, form: NewTemplateForm) -> Result<TemplateId, AppError>;

    /// Copies a template and returns the id of the copy.
    async fn duplicate_template(&self, id: TemplateId) -> Result<TemplateId, AppError>;

    /// Deletes a template, if `typed_name` is its name. Returns `false` if published templates use it as a partial, so that
    /// it stays.
    async fn delete_template(&self, id: TemplateId, typed_name: String) -> Result<bool, AppError>;

    /// Saves a new version, and publishes it if the form asks for that.
    async fn save_template(&self, form: TemplateForm) -> Result<SavedTemplate, AppError>;

    /// Saves an earlier version again, as a draft.
    async fn restore_template(&self, id: TemplateId, number: i32) -> Result<(), AppError>;

    /// Publishes a version. An earlier one is saved again as a new version.
    async fn publish_version(&self, id: TemplateId, form: PublicationForm) -> Result<(), AppError>;

    /// Renders the unsaved content of the editor.
    async fn preview_template(&self, wanted: PreviewRequest) -> Result<PreviewEvents, AppError>;

    // Playground.

    /// Returns what the playground's form needs.
    async fn bench(&self) -> Result<Bench, AppError>;

    /// Returns the request of a render, as the playground opens it.
    async fn request_of_render(&self, id: RenderId) -> Result<Replayed, AppError>;

    /// Sends a request to the API and returns its response.
    async fn play(&self, attempt: Attempt) -> Result<Played, AppError>;

    /// Returns the sample data of a template, as JSON.
    async fn sample_of_template(&self, id: String) -> Result<String, AppError>;

    // Operators. For other users, these methods return [`AppError::NotFound`]. Each change is recorded with its reason.

    /// Returns the logged-in operator and a summary of the service's health.
    async fn operator_standing(&self) -> Result<OperatorStanding, AppError>;

    /// Returns a page of accounts, and the names of all plans.
    async fn accounts(&self, search: DirectorySearch) -> Result<(DirectoryPage, Vec<String>), AppError>;

    /// Returns the details of one account.
    async fn account_file(&self, id: AccountId) -> Result<AccountFile, AppError>;

    /// Suspends an account.
    async fn suspend_account(&self, id: AccountId, reason: String, notify_owner: bool) -> Result<(), AppError>;

    /// Ends a suspension.
    async fn restore_account(&self, id: AccountId, reason: String, notify_owner: bool) -> Result<(), AppError>;

    /// Grants an account credits. `credits` and `lasts` are the raw form values.
    async fn grant_credits(
        &self,
        id: AccountId,
        credits: String,
        lasts: String,
        reason: String,
    ) -> Result<(), AppError>;

    /// Moves an account to another plan. `credits`, if not empty, replaces the plan's credits for each period.
    async fn set_plan(&self, id: AccountId, plan: String, credits: String, reason: String) -> Result<(), AppError>;

    /// Overrides an account's limits, given as raw form values: concurrent renders, requests per minute, MiB per
    /// request, seconds per render, and lines of storage limits. For an empty value the plan's limit applies.
    async fn set_limits(&self, id: AccountId, limits: [String; 5], reason: String) -> Result<(), AppError>;

    /// Starts impersonation: the operator views the account as its owner.
    async fn impersonate(&self, id: AccountId, reason: String) -> Result<(), AppError>;

    /// Ends impersonation. Returns the id of the account that was viewed.
    async fn stop_impersonation(&self) -> Result<Option<AccountId>, AppError>;

    /// Lists failed jobs, the latest failure first.
    async fn failed_jobs(&self, search: FailedWorkSearch) -> Result<FailedWorkPage, AppError>;

    /// Retries the chosen jobs at once.
    async fn retry_failed_work(&self, chosen: ChosenWork, reason: String) -> Result<Done, AppError>;

    /// Discards the chosen jobs.
    async fn discard_failed_work(&self, chosen: ChosenWork, reason: String) -> Result<Done, AppError>;

    /// Returns the health of all parts. With the id of a known process, activity is limited to that process.
    async fn health(&self, process: Option<InstanceId>) -> Result<Health, AppError>;

    /// Returns a page of audit events, the latest first, and the end of the chain: number of the last event and its
    /// digest in hexadecimal, or `None` if the log is empty.
    async fn audit_log(
        &self,
        filter: AuditFilter,
        after: Option<i64>,
    ) -> Result<(Page<AuditRow, i64>, Option<(i64, String)>), AppError>;

    /// Lists all announcements for operators, ordered by start, the latest first. Also returns the current time.
    async fn announcements(&self) -> Result<(Vec<Announcement>, OffsetDateTime), AppError>;

    /// Creates an announcement.
    async fn announce(&self, form: AnnouncementForm) -> Result<(), AppError>;

    /// Ends a current announcement, or cancels a scheduled one.
    async fn end_announcement(&self, id: AnnouncementId) -> Result<(), AppError>;
}

/// Returns the services for the current request. In async functions, call it before the first `await`.
pub fn backend() -> Arc<dyn Backend> {
    use_context().expect("the server provides a backend for every request")
}

/// Completes a server function: responds to its form with a redirect to `path`.
pub fn leave_for(path: impl Into<OwnPath>) -> Result<(), AppError> {
    redirect(path);
    Ok(())
}

/// As [`leave_for`], for a page of Stripe, whose address Stripe has returned.
pub fn leave_for_stripe(page: &str) -> Result<(), AppError> {
    see_other(page);
    Ok(())
}

/// Responds with a redirect to `path`.
pub fn redirect(path: impl Into<OwnPath>) {
    see_other(&path.into().to_string());
}

fn see_other(address: &str) {
    if let Some(response) = use_context::<leptos_axum::ResponseOptions>()
        && let Ok(location) = http::HeaderValue::from_str(address)
    {
        response.set_status(http::StatusCode::SEE_OTHER);
        response.insert_header(http::header::LOCATION, location);
    }
}
