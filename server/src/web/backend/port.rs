//! Implements [`Backend`]. Each method begins with its check: whose request it is, and what they may do.

use std::{num::NonZeroU16, slice, time::Duration as StdDuration};

use async_trait::async_trait;
use platen_app::{
    backend::{Backend, PreviewEvents},
    error::AppError,
    model::{
        account_summary::AccountSummary,
        admin::{
            OperatorStanding,
            accounts::AccountFile,
            failed_jobs::{ChosenWork, FailedWorkPage, FailedWorkSearch},
            health::Health,
        },
        api_key::{ApiKeys, KeyDetail, KeySettingsForm, NewKey, NewKeyForm},
        asset::{AssetDetail, Assets, Fonts},
        connection::{ConnectionEdit, ConnectionForm, Connections},
        delivery::{DeliverySearch, EndpointForm, Webhooks},
        live_preview::PreviewRequest,
        money::Money,
        overview::{Activity, Span},
        payment::Payment,
        person::{LogIn, LogInStep, Person, Proof, SecondStepProof, SignUp},
        playground::{Attempt, Bench, Played, Replayed, TemplateName},
        rejection::Field,
        render::RenderPage,
        second_factor::{NewPasskey, SetUp},
        settings::{OwnedAccount, Settings},
        team::{LogPage, OwnAccount, Team},
        template::{GeneratedData, NewTemplateForm, PublicationForm, TemplateForm},
        template_releases::Releases,
        template_settings::TemplateSettings,
        template_versions::{PageComparisons, Versions},
        usage::Usage,
    },
};
use platen_core::{
    clock,
    service::{
        account_log, account_summary,
        accounts::PlanChoice,
        activity, announcements,
        api_keys::{self, NewKeyRequest},
        assets,
        billing::{BillingError, purchases, status},
        callbacks,
        connections::{self, probe, rejected_credentials},
        credits, deliveries, exports, failed_jobs,
        operators::{accounts, directory, log, look},
        parsers::Busy,
        people::{
            self, PeopleError, account, confirm, devices, email, invitations,
            log_in::{self, LogInForm, SecondStepForm},
            password,
            second_factor::{
                self, Shown, new_codes,
                passkeys::{self, Added, NewPasskeyForm},
            },
            sent_mail, sign_up, team,
        },
        plans,
        renders::{self, cancel, detail, links, request, structure},
        sessions::{self, Stay},
        storage_use,
        templates::{
            self, TemplateError, channels,
            comparison::{self, Compared},
            drafts, generation, partials, promotions, versions,
        },
        webhook_deliveries, webhook_endpoints, webhook_secrets,
    },
};
use platen_domain::{
    account_directory::{DirectoryPage, DirectorySearch},
    account_log::{ActivityFilter, Actor},
    allowed::AllowedTemplates,
    announcement::{Announcement, AnnouncementField, AnnouncementForm, NewAnnouncement},
    asset::{self, Asset, AssetFilter, AssetReplacement},
    audit_log::{AuditActor, AuditFilter, AuditRow, Reason},
    caller::Access,
    download_link::DocumentLinks,
    editor::{SampleSet, SavedTemplate, UnpublishedChanges},
    failed_jobs::Done,
    ids::{
        AccountId, AnnouncementId, ApiKeyId, AssetId, ConnectionId, DeliveryId, DeviceId, EndpointId, EventId,
        InstanceId, InvitationId, PasskeyId, PromotionId, RenderId, SessionId, TemplateId, UserId,
    },
    one_time_token::Purpose,
    page::{Page, PageRequest},
    page_comparison::Comparison,
    plan::Plan,
    render::{content::MissingContent, detail::RenderDetail, log::LogFilter, structure::RenderStructure},
    role::{
        Permission::{
            DeleteAccount, ExportAccount, ManageBilling, ManageDestinations, ManageKeys, ManagePeople, ManageWebhooks,
            Produce, ReadLog, SeeAccount, SetPolicy, TransferOwnership,
        },
        Role,
    },
    second_factor::{App, Ways, picture},
    team::{Guest, OpenedInvitation},
    template::{
        EditedTemplate, ExpectedVersion, TemplateFilter, TemplateGlance, channels::Channels, identity::TemplateKind,
        labels, promotions::PromotionState,
    },
};
use secrecy::ExposeSecret;
use time::{Date, Duration, OffsetDateTime, macros::format_description};

use super::{
    RequestBackend, called, catalog, comparisons, connection_forms, key_forms, number,
    operations::{MOST_CREDITS, NO_ACCOUNT, operation, own_limits, read_reason},
    overview, playground, template_forms,
    visitor_errors::{invalid, too_many},
};
use crate::http::csrf;

/// Session key of the time until which the signing secret is shown.
const SECRET_SHOWN_UNTIL: &str = "webhook_secret_shown_until";
/// Time for which the signing secret is shown.
const SECRET_SHOWN: Duration = Duration::minutes(1);
/// Maximum number of templates in the filters of the list of renders. Others can be searched by name.
const LISTED_TEMPLATES: i64 = 500;
/// Maximum number of templates in the playground.
const OFFERED_TEMPLATES: i64 = 100;
/// Maximum number of assets in the results of a search.
const FOUND_ASSETS: NonZeroU16 = NonZeroU16::MIN.saturating_add(5);
/// Number of assets on a page of their list.
const ASSET_PAGE: NonZeroU16 = NonZeroU16::MIN.saturating_add(49);
/// Number of templates on a page of their list.
const TEMPLATE_PAGE: NonZeroU16 = NonZeroU16::MIN.saturating_add(24);
/// Maximum number of promotions listed. Older ones are available through the API.
const LISTED_PROMOTIONS: NonZeroU16 = NonZeroU16::MIN.saturating_add(49);
/// Maximum number of versions listed. Older ones are available through the API.
const LISTED_VERSIONS: NonZeroU16 = NonZeroU16::MIN.saturating_add(99);

#[async_trait]
impl Backend for RequestBackend {
    fn base_url(&self) -> String {
        self.app.base_url.as_str().trim_end_matches('/').to_owned()
    }

    fn is_logged_in(&self) -> bool {
        self.person.is_some()
    }

    fn csrf_token(&self) -> Option<String> {
        csrf::token(&self.session)
    }

    // The account.

    async fn summary(&self) -> Result<AccountSummary, AppError> {
        let caller = self.caller_who_may(SeeAccount).await?;
        // Every page of the dashboard shows the summary.
        self.app.jobs.changes().page_loaded(caller.account);
        self.account_summary(&caller).await
    }

    async fn role(&self) -> Result<Role, AppError> {
        self.caller_who_may(SeeAccount).await?.role.ok_or(AppError::NoAccount)
    }

    async fn activity(&self, span: Span, new_key: Option<ApiKeyId>) -> Result<Activity, AppError> {
        let (caller, now) = (self.caller_who_may(SeeAccount).await?, clock::now());
        let usage = self.answer(credits::usage(&self.app.db, caller.account, now).await)?;
        let credits = overview::credit_period(usage, now);
        let renders = self.render_activity(&caller, None, span, &credits).await?;
        let latest = self.answer(activity::latest(&self.app.db, caller.account).await)?;
        Ok(Activity {
            renders,
            checklist: self.checklist(&caller, &latest, new_key, now).await?,
            latest: latest.into_iter().rev().collect(),
            credits,
        })
    }

    async fn dismiss_checklist(&self) -> Result<(), AppError> {
        let caller = self.caller_who_may(SeeAccount).await?;
        self.answer(account_summary::dismiss_checklist(&self.app.db, &caller, clock::now()).await)
    }

    async fn usage(&self) -> Result<Usage, AppError> {
        let (caller, now) = (self.caller_who_may(SeeAccount).await?, clock::now());
        let usage = self.answer(credits::usage(&self.app.db, caller.account, now).await)?;
        Ok(Usage {
            storage: self.answer(storage_use::list(&self.app.db, caller.account).await)?,
            limits: caller.limits,
            days: overview::used_days(&usage),
            credits: overview::credit_period(usage, now),
        })
    }

    async fn hide_announcement(&self, id: AnnouncementId) -> Result<(), AppError> {
        self.answer(announcements::hide(&self.app.db, self.user()?, id).await)
    }

    // Log-in, sign-up and password reset.

    async fn log_in(&self, form: LogIn) -> Result<LogInStep, AppError> {
        let form = LogInForm {
            email: form.email,
            password: form.password.into(),
            stay: if form.stays { Stay::LoggedIn } else { Stay::WhileOpen },
        };
        let entered = log_in::log_in(&self.app.people, &self.session, &self.client, form, clock::now()).await;
        Ok(match self.answer(entered)? {
            log_in::LogInStep::LoggedIn(_) => LogInStep::LoggedIn,
            log_in::LogInStep::SecondFactor => LogInStep::SecondFactor,
        })
    }

    async fn second_step(&self) -> Result<Option<Ways>, AppError> {
        self.answer(log_in::ask_for_second_factor(&self.app.people, &self.session, clock::now()).await)
    }

    async fn log_in_by_second_factor(&self, proof: SecondStepProof, remember: bool) -> Result<(), AppError> {
        let (field, shown) = match proof {
            SecondStepProof::App(code) => (Field::Code, Shown::Code(code.into())),
            SecondStepProof::Recovery(code) => (Field::RecoveryCode, Shown::Code(code.into())),
            // Errors of passkeys are shown at the top of the form.
            SecondStepProof::Passkey(answer) => (Field::Code, Shown::Passkey(answer.into())),
        };
        let (people, form) = (&self.app.people, SecondStepForm { shown, remember });
        match log_in::log_in_by_second_factor(people, &self.session, &self.client, form, clock::now()).await {
            Err(PeopleError::WrongCode) => Err(invalid(vec![field])),
            entered => self.answer(entered).map(drop),
        }
    }

    async fn log_out(&self) -> Result<(), AppError> {
        self.answer(sessions::log_out(&self.session).await)
    }

    async fn sign_up(&self, form: SignUp) -> Result<(), AppError> {
        let form = sign_up::SignUpForm {
            name: form.name,
            email: form.email,
            account_name: form.account_name,
            password: form.password.into(),
        };
        let (email, now) = (form.email.clone(), clock::now());
        self.answer(sign_up::sign_up(&self.app.people, &self.client, form, now).await)?;
        self.answer(sent_mail::keep(&self.session, &email, now).await)
    }

    async fn send_sign_up_again(&self, email: String) -> Result<(), AppError> {
        let now = clock::now();
        self.answer(sign_up::send_again(&self.app.people, &self.client, &email, now).await)?;
        self.answer(sent_mail::keep(&self.session, &email, now).await)
    }

    async fn verify_sign_up(&self, token: String, password: String) -> Result<(), AppError> {
        let (people, now) = (&self.app.people, clock::now());
        let verified = sign_up::verify(people, &self.session, &self.client, &token, password.into(), now).await;
        self.answer(verified).map(drop)
    }

    async fn request_password_reset(&self, email: String) -> Result<(), AppError> {
        let now = clock::now();
        self.answer(password::request_reset(&self.app.people, &self.client, &email, now).await)?;
        self.answer(sent_mail::keep(&self.session, &email, now).await)
    }

    async fn mail_sent_to(&self) -> Result<Option<String>, AppError> {
        self.answer(sent_mail::find(&self.session, clock::now()).await)
    }

    async fn address_of_link(&self, purpose: Purpose, token: String) -> Result<Option<String>, AppError> {
        let found = people::address_of_link(&self.app.people, purpose, &token, clock::now()).await;
        Ok(self.answer(found)?.map(|email| email.to_string()))
    }

    async fn reset_password(&self, token: String, password: String) -> Result<(), AppError> {
        self.answer(password::reset(&self.app.people, &token, password.into(), clock::now()).await)
    }

    async fn confirm_email(&self, token: String) -> Result<(), AppError> {
        self.answer(email::confirm_change(&self.app.people, self.user()?, &token, clock::now()).await)
    }

    async fn plans(&self) -> Result<Vec<(Plan, Money)>, AppError> {
        let plans = self.plans.get_or_try_init(|| self.plans_for_sale()).await;
        plans.cloned()
    }

    // Second factor, remembered browsers, and confirmation of the user's identity.

    async fn ask_for_second_factor(&self) -> Result<Ways, AppError> {
        let user = self.user()?;
        self.answer(second_factor::ask(&self.app.people, &self.session, user, clock::now()).await)
    }

    async fn second_factor(&self) -> Result<SetUp, AppError> {
        let (people, user, now) = (&self.app.people, self.user()?, clock::now());
        let new_codes = self.answer(new_codes::take(people, &self.session, user, now).await)?;
        let new_codes = new_codes.unwrap_or_default();
        let state = self.answer(second_factor::of_user(people, user, now).await)?;
        let secret = match &state.app {
            App::Off | App::On { .. } => None,
            App::Begun { secret, email } => {
                let picture = picture::draw(secret.to_url(email).expose_secret());
                let picture = picture.map_err(|error| self.internal(&error))?;
                Some((secret.to_text().expose_secret().to_owned(), picture))
            }
        };
        Ok(SetUp {
            state,
            secret,
            new_codes: new_codes.iter().map(|code| code.expose_secret().to_owned()).collect(),
        })
    }

    async fn begin_second_factor(&self) -> Result<(), AppError> {
        self.answer(second_factor::begin(&self.app.people, self.confirmed_user()?, clock::now()).await)
    }

    async fn turn_second_factor_on(&self, code: String) -> Result<(), AppError> {
        let (people, user, now) = (&self.app.people, self.confirmed_user()?, clock::now());
        self.answer(second_factor::turn_on(people, &self.session, user, &self.client, &code.into(), now).await)
    }

    async fn turn_second_factor_off(&self) -> Result<(), AppError> {
        let user = self.confirmed_user()?;
        self.answer(second_factor::turn_off(&self.app.people, user, &self.client, clock::now()).await)
    }

    async fn begin_passkey(&self) -> Result<(), AppError> {
        self.confirmed_user().map(drop)
    }

    async fn ask_for_new_passkey(&self) -> Result<NewPasskey, AppError> {
        let user = self.user()?;
        if self.confirmed().is_err() {
            return Ok(NewPasskey::Unconfirmed);
        }
        match passkeys::ask_for_new(&self.app.people, &self.session, user, clock::now()).await {
            Err(PeopleError::NoPasskeysHere) => Ok(NewPasskey::NotHere),
            asked => self.answer(asked).map(NewPasskey::Asked),
        }
    }

    async fn add_passkey(&self, name: String, answer: String) -> Result<bool, AppError> {
        let (people, user, now) = (&self.app.people, self.confirmed_user()?, clock::now());
        let answer = answer.into();
        let form = NewPasskeyForm { name, answer };
        let added = passkeys::add(people, &self.session, user, &self.client, form, now).await;
        Ok(self.answer(added)? == Added::WithCodes)
    }

    async fn remove_passkey(&self, id: PasskeyId) -> Result<(), AppError> {
        let user = self.confirmed_user()?;
        self.answer(passkeys::remove(&self.app.people, user, &self.client, id, clock::now()).await)
    }

    async fn renew_recovery_codes(&self) -> Result<(), AppError> {
        let (people, user, now) = (&self.app.people, self.confirmed_user()?, clock::now());
        self.answer(second_factor::renew_codes(people, &self.session, user, &self.client, now).await)
    }

    async fn forget_device(&self, id: DeviceId) -> Result<(), AppError> {
        self.answer(devices::forget(&self.app.people, self.user()?, id).await)
    }

    async fn confirm(&self, proof: Proof) -> Result<(), AppError> {
        let (people, session, client) = (&self.app.people, &self.session, &self.client);
        let (user, now) = (self.user()?, clock::now());
        let shown = match proof {
            Proof::Password(password) => {
                return self.answer(confirm::by_password(people, session, user, client, password.into(), now).await);
            }
            Proof::Code(code) => Shown::Code(code.into()),
            Proof::Passkey(answer) => Shown::Passkey(answer.into()),
        };
        self.answer(confirm::by_second_factor(people, session, user, client, &shown, now).await)
    }

    // Settings of the user and of the account.

    async fn settings(&self) -> Result<Settings, AppError> {
        let (caller, now) = (self.caller_who_may(SeeAccount).await?, clock::now());
        let (db, people, user) = (&self.app.db, &self.app.people, caller.user.id);
        let person = self.answer(account::person(people, user).await)?;
        let person = person.ok_or(AppError::LogInFirst)?;
        let owned = match self.answer(account::owned(people, user, caller.account).await)? {
            Some(owned) => Some(OwnedAccount {
                called: called(owned.name.clone(), &person.email),
                name: owned.name,
                keep_content: owned.keep_content,
                links: owned.links,
                plan_link_seconds: owned.plan_link_seconds,
                channels: self.answer(channels::find(db, caller.account).await)?,
                second_factor_from: owned.second_factor_from.map(OffsetDateTime::date),
                delete_at: owned.delete_at,
                exports: self.answer(exports::list(db, caller.account, now).await)?,
            }),
            None => None,
        };
        Ok(Settings {
            now,
            owned,
            password_changed_at: person.password_changed_at,
            second_factor: self.answer(second_factor::of_user(people, user, now).await)?,
            devices: self.answer(devices::remembered(people, user, now).await)?,
            sessions: self.answer(sessions::list(db, user, &self.session, now).await)?,
            person: Person {
                name: person.name,
                email: person.email,
            },
        })
    }

    async fn rename(&self, name: String) -> Result<(), AppError> {
        self.answer(account::rename(&self.app.people, self.user()?, &name).await)
    }

    async fn request_email_change(&self, address: String) -> Result<(), AppError> {
        let (people, user, now) = (&self.app.people, self.confirmed_user()?, clock::now());
        match email::request_change(people, user, &self.client, &address, now).await {
            Err(PeopleError::Invalid(_)) => Err(invalid(vec![Field::NewEmail])),
            requested => self.answer(requested),
        }
    }

    async fn change_password(&self, new: String) -> Result<(), AppError> {
        let (people, user, now) = (&self.app.people, self.confirmed_user()?, clock::now());
        self.answer(password::change(people, user, &self.session, &self.client, new.into(), now).await)
    }

    async fn rename_account(&self, name: String) -> Result<(), AppError> {
        let caller = self.caller_who_may(SetPolicy).await?;
        match account::rename_account(&self.app.people, &caller, &name, clock::now()).await {
            // The service calls the field `name`, but this page has two names.
            Err(PeopleError::Invalid(_)) => Err(invalid(vec![Field::AccountName])),
            renamed => self.answer(renamed),
        }
    }

    async fn keep_content(&self, keep: bool) -> Result<(), AppError> {
        let caller = self.caller_who_may(SetPolicy).await?;
        self.answer(account::keep_content(&self.app.people, &caller, keep, clock::now()).await)
    }

    async fn set_document_links(&self, links: DocumentLinks) -> Result<(), AppError> {
        let caller = self.caller_who_may(SetPolicy).await?;
        self.answer(account::set_document_links(&self.app.people, &caller, links, clock::now()).await)
    }

    async fn set_channels(&self, before_production: String, approval: bool) -> Result<(), AppError> {
        let caller = self.caller_who_may(SetPolicy).await?;
        let channels = Channels::parse(&before_production, approval);
        let channels = channels.map_err(|_| invalid(vec![Field::Channels]))?;
        let actor = Actor::of_caller(&caller);
        self.answer(channels::set(&self.app.db, caller.account, &actor, &channels).await)
    }

    async fn require_second_factor(&self, from: String) -> Result<(), AppError> {
        let (caller, now) = (self.confirmed_caller_who_may(SetPolicy).await?, clock::now());
        let from = match from.trim() {
            "" => None,
            day => {
                let day = Date::parse(day, format_description!("[year]-[month]-[day]")).ok();
                let day = day.filter(|day| *day >= now.date());
                Some(day.ok_or_else(|| invalid(vec![Field::SecondFactorFrom]))?)
            }
        };
        self.answer(account::require_second_factor(&self.app.people, &caller, from, now).await)
    }

    async fn request_export(&self) -> Result<(), AppError> {
        let caller = self.confirmed_caller_who_may(ExportAccount).await?;
        self.answer(exports::request(&self.app.db, &caller, clock::now()).await)
    }

    async fn end_session(&self, id: SessionId) -> Result<(), AppError> {
        let user = self.user()?;
        self.answer(people::sessions::end(&self.app.people, user, &self.client, id, clock::now()).await)
    }

    async fn end_other_sessions(&self) -> Result<(), AppError> {
        let (people, user, now) = (&self.app.people, self.user()?, clock::now());
        self.answer(people::sessions::end_all_others(people, user, &self.session, &self.client, now).await)
    }

    async fn request_deletion(&self, name: String) -> Result<(), AppError> {
        let caller = self.confirmed_caller_who_may(DeleteAccount).await?;
        let (people, user) = (&self.app.people, &caller.user);
        let owned = self.answer(account::owned(people, user.id, caller.account).await)?;
        let owned = owned.ok_or(AppError::NotFound)?;
        if called(owned.name, &user.email).trim() != name.trim() {
            return Err(invalid(vec![Field::Confirmation]));
        }
        self.answer(account::request_deletion(people, &caller, clock::now()).await)
            .map(drop)
    }

    async fn undo_deletion(&self) -> Result<(), AppError> {
        let caller = self.caller_who_may(DeleteAccount).await?;
        self.answer(account::undo_deletion(&self.app.people, &caller, clock::now()).await)
    }

    // Members, invitations and activity.

    async fn team(&self) -> Result<Team, AppError> {
        let (caller, people) = (self.caller_who_may(SeeAccount).await?, &self.app.people);
        let invitations = if caller.may(ManagePeople) {
            self.answer(invitations::list(people, caller.account).await)?
        } else {
            Vec::new()
        };
        let own = self.own_accounts().await?;
        let account = own.iter().find(|own| own.current);
        Ok(Team {
            now: clock::now(),
            account: account.map_or_else(String::new, |account| account.name.clone()),
            viewer: caller.user.id,
            role: caller.role.ok_or(AppError::NoAccount)?,
            only_account: own.len() == 1,
            members: self.answer(team::list(people, caller.account).await)?,
            invitations,
        })
    }

    async fn invite(&self, emails: String, role: Role) -> Result<(), AppError> {
        let caller = self.confirmed_caller_who_may(ManagePeople).await?;
        let invited = invitations::invite(&self.app.people, &caller, &self.client, &emails, role, clock::now()).await;
        self.answer(invited).map(drop)
    }

    async fn invite_again(&self, id: InvitationId) -> Result<(), AppError> {
        let caller = self.confirmed_caller_who_may(ManagePeople).await?;
        self.answer(invitations::send_again(&self.app.people, &caller, &self.client, id, clock::now()).await)
    }

    async fn withdraw_invitation(&self, id: InvitationId) -> Result<(), AppError> {
        let caller = self.caller_who_may(ManagePeople).await?;
        self.answer(invitations::withdraw(&self.app.people, &caller, id, clock::now()).await)
    }

    async fn change_role(&self, user: UserId, role: Role) -> Result<(), AppError> {
        let caller = self.confirmed_caller_who_may(ManagePeople).await?;
        self.answer(team::change_role(&self.app.people, &caller, user, role, clock::now()).await)
    }

    async fn remove_member(&self, user: UserId) -> Result<(), AppError> {
        let caller = self.confirmed_caller_who_may(ManagePeople).await?;
        self.answer(team::remove(&self.app.people, &caller, user, clock::now()).await)
    }

    async fn leave_account(&self) -> Result<(), AppError> {
        let caller = self.caller_who_may(SeeAccount).await?;
        let (people, user) = (&self.app.people, caller.user.id);
        self.answer(team::leave(people, &caller, clock::now()).await)?;
        match self.answer(account::accounts_of(people, user).await)?.first() {
            Some(next) => self.answer(account::switch(people, &self.session, user, next.account).await),
            None => self.log_out().await,
        }
    }

    async fn hand_over(&self, user: UserId) -> Result<(), AppError> {
        let caller = self.confirmed_caller_who_may(TransferOwnership).await?;
        self.answer(team::hand_over(&self.app.people, &caller, user, clock::now()).await)
    }

    async fn invitation(&self, token: String) -> Result<(OpenedInvitation, Guest), AppError> {
        self.answer(invitations::open(&self.app.people, &token, self.user().ok(), clock::now()).await)
    }

    async fn accept_invitation(&self, token: String) -> Result<(), AppError> {
        let (people, user, now) = (&self.app.people, self.user()?, clock::now());
        self.answer(invitations::accept(people, &self.session, user, &self.client, &token, now).await)
    }

    async fn join_as_new(&self, token: String, name: String, password: String) -> Result<(), AppError> {
        let (people, session, client) = (&self.app.people, &self.session, &self.client);
        let joined = invitations::join_as_new(people, session, client, &token, &name, password.into(), clock::now());
        self.answer(joined.await)
    }

    async fn own_accounts(&self) -> Result<Vec<OwnAccount>, AppError> {
        let user = self.user()?;
        if let Some(look) = self.look() {
            // During impersonation the operator acts only for the account in view, of which they are not a member.
            return Ok(vec![OwnAccount {
                id: look.account,
                name: self.answer(account_summary::called(&self.app.db, look.account).await)?,
                current: true,
            }]);
        }
        let chosen = self.answer(sessions::chosen_account(&self.session).await)?;
        let own = self.answer(account::accounts_of(&self.app.people, user).await)?;
        let shown = own.into_iter().map(|own| OwnAccount {
            id: own.account,
            name: called(own.name, &own.owner),
            current: Some(own.account) == chosen,
        });
        Ok(shown.collect())
    }

    async fn switch_account(&self, id: AccountId) -> Result<(), AppError> {
        self.answer(account::switch(&self.app.people, &self.session, self.user()?, id).await)
    }

    async fn account_log(&self, filter: ActivityFilter, after: Option<EventId>) -> Result<LogPage, AppError> {
        let (account, db) = (self.caller_who_may(ReadLog).await?.account, &self.app.db);
        let authors = self.answer(account_log::authors(db, account).await)?;
        let members = self.answer(team::list(&self.app.people, account).await)?.into_iter();
        Ok(LogPage {
            entries: self.answer(account_log::page(db, account, &filter, after).await)?,
            people: authors.into_iter().map(|author| (author.id, author.email)).collect(),
            names: members
                .filter(|member| !member.name.is_empty())
                .map(|member| (member.email, member.name))
                .collect(),
            days: self.answer(account_log::days_kept(db, account).await)?,
        })
    }

    // API keys.

    async fn api_keys(&self, new: Option<ApiKeyId>) -> Result<ApiKeys, AppError> {
        let (caller, now) = (self.caller_who_may(ManageKeys).await?, clock::now());
        let (db, account) = (&self.app.db, caller.account);
        let new = self.new_key(account, new, now).await?;
        let mut keys = self.answer(api_keys::list(db, key_forms::owned(&caller), now).await)?;
        self.app.key_usage.add_to(&mut keys);
        Ok(ApiKeys {
            now,
            keys,
            new: new.map(|new| NewKey {
                id: new.id,
                secret: new.key.expose().to_owned(),
            }),
            templates: self.template_labels(account).await?,
            channels: self.answer(channels::find(db, account).await)?,
        })
    }

    async fn api_key(&self, id: ApiKeyId, span: Span) -> Result<KeyDetail, AppError> {
        let (caller, now) = (self.caller_who_may(ManageKeys).await?, clock::now());
        let usage = self.answer(credits::usage(&self.app.db, caller.account, now).await)?;
        let period_ends_at = usage.balance.period.ends_at;
        let credits = overview::credit_period(usage, now);
        let found = self.render_activity(&caller, Some(id), span, &credits).await?;
        Ok(KeyDetail {
            key: self.key(&caller, id).await?,
            templates: self.template_labels(caller.account).await?,
            channels: self.answer(channels::find(&self.app.db, caller.account).await)?,
            renders: found,
            period_ends_at,
        })
    }

    async fn edit_key(&self, id: ApiKeyId, form: KeySettingsForm) -> Result<(), AppError> {
        let (caller, now) = (self.confirmed_caller_who_may(ManageKeys).await?, clock::now());
        let former = self.key(&caller, id).await?.expires_at;
        let (actor, settings) = (Actor::of_caller(&caller), key_forms::read(&form, former, now)?);
        self.answer(api_keys::edit(&self.app.db, caller.account, &actor, id, settings, now).await)
    }

    async fn create_key(&self, form: NewKeyForm) -> Result<ApiKeyId, AppError> {
        let (caller, now) = (self.confirmed_caller_who_may(ManageKeys).await?, clock::now());
        let (owned, actor) = (key_forms::owned(&caller), Actor::of_caller(&caller));
        let request = NewKeyRequest {
            livemode: form.live,
            settings: key_forms::read(&form.settings, None, now)?,
        };
        let created = self.answer(api_keys::create(&self.app.db, owned, &actor, request, now).await)?;
        self.show_once(caller.account, &created, now).await
    }

    async fn rotate_key(&self, id: ApiKeyId, overlap_hours: u16) -> Result<ApiKeyId, AppError> {
        let (caller, now) = (self.confirmed_caller_who_may(ManageKeys).await?, clock::now());
        let (actor, overlap) = (Actor::of_caller(&caller), key_forms::overlap(overlap_hours)?);
        let rotated = api_keys::rotate(&self.app.db, caller.account, &actor, id, overlap, now).await;
        self.show_once(caller.account, &self.answer(rotated)?, now).await
    }

    async fn revoke_key(&self, id: ApiKeyId, name: String) -> Result<(), AppError> {
        let caller = self.confirmed_caller_who_may(ManageKeys).await?;
        let (actor, now) = (Actor::of_caller(&caller), clock::now());
        self.answer(api_keys::revoke(&self.app.db, caller.account, &actor, id, Some(&name), now).await)
    }

    // Storage connections.

    async fn connections(&self) -> Result<Connections, AppError> {
        let (account, db) = (self.caller_who_may(ManageDestinations).await?.account, &self.app.db);
        let found = self.answer(connections::list(db, account, PageRequest::ALL).await)?;
        let mut tests = self.answer(probe::last_tests(db, account).await)?;
        let stores = self.app.buckets.stores();
        let listed = found.items.into_iter().map(|connection| {
            let test = tests.remove(&connection.id);
            (connection, test)
        });
        let now = clock::now();
        let rejected = self.answer(rejected_credentials::take(&self.session, account, now).await)?;
        Ok(Connections {
            now,
            account: account.to_string(),
            roles: stores.can_assume_roles(),
            impersonation: stores.can_impersonate(),
            connections: listed.collect(),
            rejected,
        })
    }

    async fn connect_bucket(&self, form: ConnectionForm) -> Result<Option<ConnectionId>, AppError> {
        let caller = self.caller_who_may(ManageDestinations).await?;
        let new = self.new_connection(&form)?;
        let created = connections::create(&self.app.buckets, caller.account, &Actor::of_caller(&caller), new).await;
        let created = self.answer_about(&form, created)?;
        self.test_connection(created.id).await
    }

    async fn edit_connection(&self, id: ConnectionId, form: ConnectionEdit) -> Result<Option<ConnectionId>, AppError> {
        let (caller, db) = (self.caller_who_may(ManageDestinations).await?, &self.app.db);
        let connection = self.answer(connections::get(db, caller.account, id).await)?;
        let form = connection_forms::edited(&connection, form);
        let settings = self.new_connection(&form)?.settings;
        let updated = connections::update(db, caller.account, &Actor::of_caller(&caller), id, &settings).await;
        self.answer_about(&form, updated)?;
        self.test_connection(id).await
    }

    async fn rotate_credentials(
        &self,
        id: ConnectionId,
        form: ConnectionForm,
    ) -> Result<Option<ConnectionId>, AppError> {
        let (caller, buckets) = (self.caller_who_may(ManageDestinations).await?, &self.app.buckets);
        let (account, actor) = (caller.account, Actor::of_caller(&caller));
        let connection = self.answer(connections::get(&self.app.db, account, id).await)?;
        let form = connection_forms::with_settings(&connection, form);
        let credentials = self.new_connection(&form)?.credentials;
        let rotated = connections::rotate_credentials(buckets, account, &actor, id, &credentials).await;
        let test = self.answer_about(&form, rotated)?;
        if test.delivers() {
            return Ok((!test.passed()).then_some(id));
        }
        Err(self.rejected_credentials(account, id, test.steps).await)
    }

    async fn test_connection(&self, id: ConnectionId) -> Result<Option<ConnectionId>, AppError> {
        let account = self.caller_who_may(ManageDestinations).await?.account;
        let test = self.answer(probe::test(&self.app.buckets, account, id).await)?;
        Ok((!test.passed()).then_some(id))
    }

    async fn delete_connection(&self, id: ConnectionId, name: String) -> Result<(), AppError> {
        let (caller, db) = (self.caller_who_may(ManageDestinations).await?, &self.app.db);
        let connection = self.answer(connections::get(db, caller.account, id).await)?;
        if connection.settings.name.trim() != name.trim() {
            return Err(invalid(vec![Field::Confirmation]));
        }
        self.answer(connections::delete(db, caller.account, &Actor::of_caller(&caller), id).await)
    }

    // Payment.

    async fn payment(&self, choice: Option<String>, back: bool) -> Result<Payment, AppError> {
        if self.app.billing.till.is_none() {
            return Ok(Payment::ByOperator);
        }
        match self.caller_who_may(ManageBilling).await {
            Ok(caller) => self.catalog(&caller, choice, back).await,
            Err(AppError::NotAllowed(_)) => Ok(Payment::ForOwners),
            Err(error) => Err(error),
        }
    }

    async fn subscribe(&self, plan: String) -> Result<String, AppError> {
        self.answer(purchases::subscribe(&self.app.billing, &self.buyer().await?, &plan).await)
    }

    async fn buy_credits(&self, product: String) -> Result<String, AppError> {
        self.answer(purchases::buy_credits(&self.app.billing, &self.buyer().await?, &product).await)
    }

    async fn payment_portal(&self) -> Result<String, AppError> {
        let caller = self.confirmed_caller_who_may(ManageBilling).await?;
        self.answer(purchases::portal(&self.app.billing, &caller, &self.billing_page()?).await)
    }

    async fn change_plan(&self, plan: String, as_of: i64) -> Result<(), AppError> {
        let caller = self.confirmed_caller_who_may(ManageBilling).await?;
        let as_of = OffsetDateTime::from_unix_timestamp(as_of).map_err(|_| AppError::Malformed)?;
        self.answer(purchases::change(&self.app.billing, &caller, &plan, as_of, clock::now()).await)
    }

    async fn keep_plan(&self) -> Result<(), AppError> {
        let caller = self.caller_who_may(ManageBilling).await?;
        self.answer(purchases::keep(&self.app.billing, &caller, clock::now()).await)
    }

    async fn set_overage_limit(&self, credits: String) -> Result<(), AppError> {
        let (caller, now) = (self.confirmed_caller_who_may(ManageBilling).await?, clock::now());
        let overage = self.answer(status::overage(&self.app.billing, caller.account, now).await)?;
        let most = self.answer(overage.ok_or(BillingError::WrongMoment))?.most;
        let mut problems = Vec::new();
        let limit = number(&mut problems, Field::OverageLimit, &credits, 0, most);
        if !problems.is_empty() {
            return Err(invalid(problems));
        }
        self.answer(purchases::set_overage_limit(&self.app.billing, &caller, limit.unwrap_or(0), now).await)
    }

    async fn cancel_subscription(&self) -> Result<(), AppError> {
        let caller = self.confirmed_caller_who_may(ManageBilling).await?;
        self.answer(purchases::cancel(&self.app.billing, &caller, clock::now()).await)
    }

    async fn resume_subscription(&self) -> Result<(), AppError> {
        let caller = self.caller_who_may(ManageBilling).await?;
        self.answer(purchases::resume(&self.app.billing, &caller, clock::now()).await)
    }

    // Renders and their webhook deliveries.

    async fn renders(
        &self,
        filter: LogFilter,
        search: String,
        after: Option<RenderId>,
    ) -> Result<RenderPage, AppError> {
        let (caller, db, now) = (self.caller_who_may(Produce).await?, &self.app.db, clock::now());
        let account = caller.account;
        let found = tokio::try_join!(
            renders::log::list(db, account, filter, &search, after),
            renders::log::count_of_month(db, account, now),
            activity::latest(db, account),
            api_keys::list(db, key_forms::owned(&caller), now),
            templates::names(db, account, LISTED_TEMPLATES),
            plans::retention_days(db, account),
        );
        let (renders, (this_month, since), latest, keys, templates, retention_days) = self.answer(found)?;
        Ok(RenderPage {
            renders: renders.page,
            is_partial: renders.is_partial,
            this_month,
            since,
            retention_days,
            latest: latest.into_iter().rev().collect(),
            templates,
            keys: keys.into_iter().map(|key| (key.id, key.name)).collect(),
        })
    }

    async fn find_renders_by_title(&self, search: String) -> Result<Vec<(RenderId, String)>, AppError> {
        let account = self.caller_who_may(Produce).await?.account;
        self.answer(renders::log::find_by_title(&self.app.db, account, &search).await)
    }

    async fn render(&self, id: RenderId) -> Result<RenderDetail, AppError> {
        let caller = self.caller_who_may(Produce).await?;
        let found = self.answer(detail::find(&self.app, caller.account, caller.access, id).await)?;
        found.ok_or(AppError::NotFound)
    }

    async fn render_structure(&self, id: RenderId) -> Result<RenderStructure, AppError> {
        let caller = self.caller_who_may(Produce).await?;
        let found = self.answer(structure::find(&self.app, caller.account, caller.access, id).await)?;
        found.ok_or(AppError::NotFound)
    }

    async fn cancel_render(&self, id: RenderId) -> Result<(), AppError> {
        let account = self.caller_who_may(Produce).await?.account;
        self.answer(cancel::cancel(&self.app, account, id, None).await)
    }

    async fn revoke_links(&self, id: RenderId) -> Result<(), AppError> {
        let account = self.caller_who_may(Produce).await?.account;
        self.answer(links::revoke(&self.app, account, id, None).await)
    }

    async fn webhooks(&self, search: DeliverySearch) -> Result<Webhooks, AppError> {
        let (account, now) = (self.caller_who_may(ManageWebhooks).await?.account, clock::now());
        let (db, secret_keys) = (&self.app.db, &self.app.secret_keys);
        let since = search.since.days().map(|days| now - Duration::days(days));
        // The session's entry belongs to the operator's own account, so it is ignored during impersonation.
        let reveal = match self.look() {
            Some(_) => None,
            None => self.answer(self.session.get::<i64>(SECRET_SHOWN_UNTIL).await)?,
        };
        let reveal = reveal.is_some_and(|until| now.unix_timestamp() < until);
        let listed = deliveries::list(db, account, search.state, since, &search.text, search.after, now).await;
        Ok(Webhooks {
            endpoints: self.answer(webhook_endpoints::list(&self.app, account).await)?,
            deliveries: self.answer(listed)?,
            secret: self.answer(webhook_secrets::status(db, secret_keys, account, reveal, now).await)?,
        })
    }

    async fn resend_callback(&self, render: RenderId) -> Result<(), AppError> {
        let account = self.caller_who_may(Produce).await?.account;
        self.answer(callbacks::resend(&self.app, account, render).await)
    }

    async fn stop_callback(&self, render: RenderId) -> Result<(), AppError> {
        let account = self.caller_who_may(Produce).await?.account;
        self.answer(callbacks::stop(&self.app, account, render).await)
    }

    async fn create_endpoint(&self, form: EndpointForm) -> Result<(), AppError> {
        let caller = self.caller_who_may(ManageWebhooks).await?;
        let (actor, form, now) = (Actor::of_caller(&caller), submitted(&form), clock::now());
        self.answer(webhook_endpoints::create(&self.app, caller.account, &actor, &form, now).await)
    }

    async fn edit_endpoint(&self, id: EndpointId, form: EndpointForm) -> Result<(), AppError> {
        let caller = self.caller_who_may(ManageWebhooks).await?;
        let (actor, form, now) = (Actor::of_caller(&caller), submitted(&form), clock::now());
        self.answer(webhook_endpoints::update(&self.app, caller.account, &actor, id, &form, now).await)
    }

    async fn switch_endpoint(&self, id: EndpointId, enable: bool) -> Result<(), AppError> {
        let caller = self.caller_who_may(ManageWebhooks).await?;
        let (actor, now) = (Actor::of_caller(&caller), clock::now());
        self.answer(webhook_endpoints::switch(&self.app, caller.account, &actor, id, enable, now).await)
    }

    async fn test_endpoint(&self, id: EndpointId) -> Result<(), AppError> {
        let account = self.caller_who_may(ManageWebhooks).await?.account;
        self.answer(webhook_endpoints::test(&self.app, account, id, clock::now()).await)
    }

    async fn delete_endpoint(&self, id: EndpointId) -> Result<(), AppError> {
        let caller = self.caller_who_may(ManageWebhooks).await?;
        let (actor, now) = (Actor::of_caller(&caller), clock::now());
        self.answer(webhook_endpoints::delete(&self.app, caller.account, &actor, id, now).await)
    }

    async fn resend_delivery(&self, id: DeliveryId) -> Result<(), AppError> {
        let account = self.caller_who_may(ManageWebhooks).await?.account;
        self.answer(webhook_deliveries::resend(&self.app, account, id).await)
    }

    async fn stop_delivery(&self, id: DeliveryId) -> Result<(), AppError> {
        let account = self.caller_who_may(ManageWebhooks).await?.account;
        self.answer(webhook_deliveries::stop(&self.app, account, id).await)
    }

    async fn reveal_webhook_secret(&self) -> Result<(), AppError> {
        let (caller, now) = (self.caller_who_may(ManageWebhooks).await?, clock::now());
        let actor = Actor::of_caller(&caller);
        self.answer(webhook_secrets::note_reading(&self.app.db, caller.account, &actor, now).await)?;
        let until = (now + SECRET_SHOWN).unix_timestamp();
        self.answer(self.session.insert(SECRET_SHOWN_UNTIL, until).await)
    }

    async fn replace_webhook_secret(&self) -> Result<(), AppError> {
        let caller = self.caller_who_may(ManageWebhooks).await?;
        let (db, keys, actor) = (&self.app.db, &self.app.secret_keys, Actor::of_caller(&caller));
        self.answer(webhook_secrets::replace(db, keys, caller.account, &actor, clock::now()).await)
    }

    // Templates.

    async fn templates(
        &self,
        filter: TemplateFilter,
        after: Option<TemplateId>,
    ) -> Result<Page<(TemplateGlance, Option<String>), TemplateId>, AppError> {
        let account = self.caller_who_may(Produce).await?.account;
        let page = PageRequest::after(after, TEMPLATE_PAGE);
        let found = self.answer(templates::glances(&self.app.db, account, &filter, page).await)?;
        let mut hints = labels::hints(found.items.iter().map(|template| (template.id, template.name.as_str())));
        let glances = found.items.into_iter().map(|template| {
            let hint = hints.remove(&template.id);
            (template, hint)
        });
        Ok(Page {
            items: glances.collect(),
            next: found.next,
        })
    }

    async fn assets(&self, filter: AssetFilter, after: Option<AssetId>) -> Result<Assets, AppError> {
        let account = self.caller_who_may(Produce).await?.account;
        let page = PageRequest::after(after, ASSET_PAGE);
        let found = self.answer(assets::list(&self.app.db, account, &filter, page).await)?;
        let users = assets::users(&self.app.db, account, &AllowedTemplates::default(), &found.items).await;
        let mut users = self.answer(users)?;
        let with_users = |asset: Asset| {
            let users = users.remove(&asset.id).unwrap_or_default();
            (asset, users)
        };
        let found = Page {
            items: found.items.into_iter().map(with_users).collect(),
            next: found.next,
        };
        let upload = self.take_upload_report(account).await?;
        Ok(Assets { found, upload })
    }

    async fn find_assets(&self, search: &str) -> Result<Vec<(AssetId, String)>, AppError> {
        let account = self.caller_who_may(Produce).await?.account;
        let filter = AssetFilter {
            name: Some(search.to_owned()),
            tag: None,
        };
        let page = PageRequest::after(None, FOUND_ASSETS);
        let found = assets::list(&self.app.db, account, &filter, page).await;
        let found = self.answer(found)?.items.into_iter();
        Ok(found.map(|asset| (asset.id, asset.name)).collect())
    }

    async fn fonts(&self, search: Option<String>) -> Result<Fonts, AppError> {
        let account = self.caller_who_may(Produce).await?.account;
        let found = assets::find_fonts(&self.app.db, account, search.as_deref()).await;
        let (fonts, left_out) = self.answer(found)?;
        Ok(Fonts {
            fonts,
            left_out,
            upload: self.take_upload_report(account).await?,
        })
    }

    async fn asset(&self, id: AssetId) -> Result<AssetDetail, AppError> {
        let account = self.caller_who_may(Produce).await?.account;
        let asset = self.answer(assets::get(&self.app.db, account, id).await)?;
        let users = assets::users(
            &self.app.db,
            account,
            &AllowedTemplates::default(),
            slice::from_ref(&asset),
        )
        .await;
        let users = self.answer(users)?.remove(&id).unwrap_or_default();
        Ok(AssetDetail { asset, users })
    }

    async fn set_asset_tags(&self, id: AssetId, tags: String) -> Result<(), AppError> {
        let caller = self.caller_who_may(Produce).await?;
        let tags = asset::tags::of_text(&tags).map_err(|_| invalid(vec![Field::Tags]))?;
        let replacement = AssetReplacement {
            content: None,
            tags: Some(tags),
        };
        let replaced = assets::replace(&self.app, &caller, id, replacement).await;
        self.answer(replaced).map(drop)
    }

    async fn delete_asset(&self, id: AssetId) -> Result<(), AppError> {
        let caller = self.caller_who_may(Produce).await?;
        self.answer(assets::delete(&self.app.db, &caller, id).await)
    }

    async fn template(&self, id: TemplateId) -> Result<EditedTemplate, AppError> {
        let account = self.caller_who_may(Produce).await?.account;
        self.answer(drafts::open(&self.app.db, account, id).await)
    }

    async fn channels(&self) -> Result<Channels, AppError> {
        let account = self.caller_who_may(Produce).await?.account;
        self.answer(channels::find(&self.app.db, account).await)
    }

    async fn sample_sets(&self, id: TemplateId) -> Result<Vec<SampleSet>, AppError> {
        let account = self.caller_who_may(Produce).await?.account;
        self.answer(drafts::sample_sets(&self.app.db, account, id).await)
    }

    async fn generate_sample(&self, content: String, data: String) -> Result<GeneratedData, AppError> {
        let caller = self.caller_who_may(Produce).await?;
        let generated = self.answer(generation::generate(&self.app, &caller, content, data).await)?;
        Ok(generated.map_or_else(GeneratedData::Problem, GeneratedData::Data))
    }

    async fn unpublished_changes(
        &self,
        id: String,
        content: String,
        translations: String,
    ) -> Result<UnpublishedChanges, AppError> {
        let account = self.caller_who_may(Produce).await?.account;
        let published = self.answer(templates::get(&self.app.db, account, template_id(&id)?).await)?;
        comparisons::of_editor(&self.app, account, published, content, translations).await
    }

    async fn template_versions(
        &self,
        id: TemplateId,
        from: Option<i32>,
        to: Option<i32>,
    ) -> Result<Versions, AppError> {
        let (account, db) = (self.caller_who_may(Produce).await?.account, &self.app.db);
        let page = PageRequest::after(None, LISTED_VERSIONS);
        let edited = self.answer(drafts::open(db, account, id).await)?;
        let compared = match from {
            Some(from) => {
                let to = to.unwrap_or(edited.newest.summary.number);
                let older = self.answer(versions::get(db, account, id, from.min(to)).await)?;
                let newer = self.answer(versions::get(db, account, id, from.max(to)).await)?;
                Some(comparisons::of_versions(&self.app, account, older, newer).await?)
            }
            None => None,
        };
        Ok(Versions {
            edited,
            listed: self.answer(versions::list(db, account, id, page).await)?.items,
            compared,
            sets: self.set_names(account, id).await?,
            releases: self.answer(channels::releases(db, account, id).await)?,
            channels: self.answer(channels::find(db, account).await)?,
        })
    }

    async fn page_comparisons(
        &self,
        id: TemplateId,
        older: Option<i32>,
        newer: Option<i32>,
        set: Option<String>,
    ) -> Result<PageComparisons, AppError> {
        let caller = self.caller_who_may(Produce).await?;
        let edited = self.answer(drafts::open(&self.app.db, caller.account, id).await)?;
        let newest = edited.newest.summary.number;
        let (older, newer) = (older.unwrap_or(edited.published), newer.unwrap_or(newest));
        for number in [older, newer] {
            self.answer(versions::get(&self.app.db, caller.account, id, number).await)?;
        }
        let sets = self.set_names(caller.account, id).await?;
        let compared = match set {
            Some(set) => {
                // A request for a page, though it takes a slot like a preview.
                match caller.access {
                    Access::Full => {}
                    Access::Suspended => return Err(AppError::Suspended),
                    Access::Looking => return Err(AppError::OnlyLooking),
                }
                let versions = Compared { older, newer };
                let compared = comparison::compare(&self.app, &caller, id, versions, &set).await;
                // Errors that pass, such as deadlines, name no version.
                let is_seen = |comparison: &Comparison| !matches!(comparison, Comparison::Failed { version: None, .. });
                if compared.as_ref().is_ok_and(is_seen) {
                    let noted = promotions::note_comparison(&self.app.db, &caller, id, versions, newest, &set).await;
                    self.answer(noted)?;
                }
                Some((set, self.answer(compared)))
            }
            None => None,
        };
        Ok(PageComparisons {
            name: edited.newest.summary.name,
            older,
            newer,
            sets,
            compared,
        })
    }

    async fn template_settings(&self, id: TemplateId) -> Result<TemplateSettings, AppError> {
        let (account, db) = (self.caller_who_may(Produce).await?.account, &self.app.db);
        let template = self.answer(templates::get(db, account, id).await)?;
        Ok(TemplateSettings {
            name: template.name,
            identity: template.identity,
            published: template.version,
            users: self.answer(partials::users(db, account, id).await)?,
        })
    }

    async fn change_template_kind(&self, id: TemplateId, kind: TemplateKind, handle: String) -> Result<(), AppError> {
        let caller = self.caller_who_may(Produce).await?;
        let identity = template_forms::identity(kind, &handle)?;
        self.answer(partials::update_identity(&self.app.db, &caller, id, &identity).await)
    }

    async fn publish_users_of_partial(&self, id: TemplateId, users: Vec<(TemplateId, i32)>) -> Result<(), AppError> {
        let caller = self.caller_who_may(Produce).await?;
        if users.is_empty() {
            return Err(invalid(vec![Field::Chosen]));
        }
        match partials::publish_users(&self.app, &caller, id, &users).await {
            Err(TemplateError::Changed) => Err(template_forms::published_meanwhile()),
            published => self.answer(published),
        }
    }

    async fn template_releases(&self, id: TemplateId) -> Result<Releases, AppError> {
        let caller = self.caller_who_may(Produce).await?;
        let (account, db) = (caller.account, &self.app.db);
        let template = self.answer(templates::get(db, account, id).await)?;
        let page = PageRequest::after(None, LISTED_PROMOTIONS);
        Ok(Releases {
            name: template.name,
            kind: template.identity.kind,
            channels: self.answer(channels::find(db, account).await)?,
            releases: self.answer(channels::releases(db, account, id).await)?,
            waiting: self.answer(promotions::waiting(db, account, id).await)?,
            latest: self.answer(promotions::list(db, account, id, page).await)?.items,
            sets: self.set_names(account, id).await?,
            visitor: caller.user.id,
        })
    }

    async fn promote_template(
        &self,
        id: TemplateId,
        channel: String,
        version: i32,
        due_at: String,
    ) -> Result<PromotionState, AppError> {
        let caller = self.caller_who_may(Produce).await?;
        let request = template_forms::promotion(&channel, version, &due_at)?;
        match promotions::request(&self.app.db, &caller, id, request).await {
            Err(TemplateError::Invalid(problems)) => Err(template_forms::not_promoted(&problems)),
            requested => Ok(self.answer(requested)?.state),
        }
    }

    async fn approve_promotion(&self, id: TemplateId, promotion: PromotionId) -> Result<PromotionState, AppError> {
        let caller = self.caller_who_may(Produce).await?;
        self.answer(promotions::approve(&self.app.db, &caller, id, promotion).await)
    }

    async fn cancel_promotion(&self, id: TemplateId, promotion: PromotionId) -> Result<(), AppError> {
        let caller = self.caller_who_may(Produce).await?;
        self.answer(promotions::cancel(&self.app.db, &caller, id, promotion).await)
    }

    async fn create_template(&self, form: NewTemplateForm) -> Result<TemplateId, AppError> {
        let caller = self.caller_who_may(Produce).await?;
        let new = template_forms::new_template(&form)?;
        Ok(self.answer(templates::create(&self.app, &caller, new).await)?.id)
    }

    async fn duplicate_template(&self, id: TemplateId) -> Result<TemplateId, AppError> {
        let caller = self.caller_who_may(Produce).await?;
        self.answer(templates::duplicate(&self.app, &caller, id).await)
    }

    async fn delete_template(&self, id: TemplateId, typed_name: String) -> Result<bool, AppError> {
        let (caller, db) = (self.caller_who_may(Produce).await?, &self.app.db);
        let template = self.answer(templates::get(db, caller.account, id).await)?;
        if template.name != typed_name.trim() {
            return Err(invalid(vec![Field::Confirmation]));
        }
        match templates::delete(db, &caller, id, &ExpectedVersion::Any).await {
            Err(TemplateError::InUse(_)) => Ok(false),
            deleted => self.answer(deleted).map(|()| true),
        }
    }

    async fn save_template(&self, form: TemplateForm) -> Result<SavedTemplate, AppError> {
        let caller = self.caller_who_may(Produce).await?;
        let id = template_id(&form.id)?;
        let seen = form
            .seen
            .map_or(ExpectedVersion::Any, |seen| ExpectedVersion::OneOf(vec![seen]));
        let note = if form.publish {
            template_forms::note(&form.note)?
        } else {
            None
        };
        let (publish, bytes) = (form.publish, form.content.len() + form.data.bytes());
        let parse = move || template_forms::draft(&form);
        let parsing = self
            .app
            .parsers
            .run(caller.account, self.app.parsing_deadline(), bytes, parse);
        let (draft, sets) = parsing.await.map_err(|Busy| too_many(StdDuration::ZERO))??;
        let mut saved = self.answer(drafts::save(&self.app, &caller, id, &seen, draft, sets).await)?;
        if publish {
            let published = drafts::publish(&self.app, &caller, id, saved.version, note.as_ref()).await;
            self.answer(published)?;
            saved.published = saved.version;
        }
        Ok(saved)
    }

    async fn restore_template(&self, id: TemplateId, number: i32) -> Result<(), AppError> {
        let caller = self.caller_who_may(Produce).await?;
        self.answer(drafts::restore(&self.app.db, &caller, id, number).await)
            .map(drop)
    }

    async fn publish_version(&self, id: TemplateId, form: PublicationForm) -> Result<(), AppError> {
        let caller = self.caller_who_may(Produce).await?;
        let PublicationForm { number, seen, note } = form;
        let (note, expected) = (template_forms::note(&note)?, ExpectedVersion::OneOf(vec![seen]));
        match versions::publish(&self.app, &caller, id, number, &expected, note.as_ref()).await {
            Err(TemplateError::Changed) => Err(template_forms::published_meanwhile()),
            published => self.answer(published).map(drop),
        }
    }

    async fn preview_template(&self, wanted: PreviewRequest) -> Result<PreviewEvents, AppError> {
        let caller = self.caller_who_may(Produce).await?;
        self.live_preview(&caller, template_id(&wanted.id)?, wanted).await
    }

    // Playground.

    async fn bench(&self) -> Result<Bench, AppError> {
        let (account, db) = (self.caller_who_may(Produce).await?.account, &self.app.db);
        let templates = self.answer(templates::names(db, account, OFFERED_TEMPLATES).await)?;
        let templates = templates.into_iter().map(|(id, name)| TemplateName {
            id: id.to_string(),
            name,
        });
        Ok(Bench {
            base_url: self.base_url(),
            templates: templates.collect(),
        })
    }

    async fn request_of_render(&self, id: RenderId) -> Result<Replayed, AppError> {
        let caller = self.caller_who_may(Produce).await?;
        let found = match caller.access {
            Access::Full | Access::Suspended => {
                self.answer(request::find_replayed(&self.app, caller.account, id).await)?
            }
            Access::Looking => Some(Err(MissingContent::Hidden)),
        };
        Ok(match found.ok_or(AppError::NotFound)? {
            Ok(body) => Replayed::Request(body),
            Err(missing) => Replayed::Missing(missing.reason().to_owned()),
        })
    }

    async fn play(&self, attempt: Attempt) -> Result<Played, AppError> {
        let caller = self.caller_who_may(Produce).await?;
        playground::play(&self.app, &self.api, caller, attempt).await
    }

    async fn sample_of_template(&self, id: String) -> Result<String, AppError> {
        let account = self.caller_who_may(Produce).await?.account;
        let template = self.answer(templates::get(&self.app.db, account, template_id(&id)?).await)?;
        Ok(serde_json::Value::Object(template.preview_context).to_string())
    }

    // Operators.

    async fn operator_standing(&self) -> Result<OperatorStanding, AppError> {
        let operator = self.operator().await?;
        Ok(OperatorStanding {
            person: Person {
                name: operator.name,
                email: operator.user.email,
            },
            health: self.health_summary().await,
        })
    }

    async fn accounts(&self, search: DirectorySearch) -> Result<(DirectoryPage, Vec<String>), AppError> {
        self.operator().await?;
        let page = self.answer(directory::list(&self.app.db, &search, clock::now()).await)?;
        Ok((page, self.plan_names().await?))
    }

    async fn account_file(&self, id: AccountId) -> Result<AccountFile, AppError> {
        self.operator().await?;
        let now = clock::now();
        let found = self.answer(directory::find(&self.app.db, id, now).await)?;
        let found = found.ok_or(AppError::NotFound)?;
        let invoices = match &found.record.customer {
            Some(_) => catalog::invoices(&self.app.billing, id, now).await,
            None => None,
        };
        Ok(AccountFile {
            now,
            id: id.to_string(),
            file: found,
            plans: self.plan_names().await?,
            invoices,
        })
    }

    async fn suspend_account(&self, id: AccountId, reason: String, notify_owner: bool) -> Result<(), AppError> {
        let (actor, reason) = (self.auditor().await?, read_reason(Vec::new(), &reason)?);
        let operation = operation(&actor, id, &reason);
        self.answer(accounts::suspend(&self.app.db, operation, notify_owner).await)
            .map(drop)
    }

    async fn restore_account(&self, id: AccountId, reason: String, notify_owner: bool) -> Result<(), AppError> {
        let (actor, reason) = (self.auditor().await?, read_reason(Vec::new(), &reason)?);
        let operation = operation(&actor, id, &reason);
        self.answer(accounts::restore(&self.app.db, operation, notify_owner).await)
            .map(drop)
    }

    async fn grant_credits(
        &self,
        id: AccountId,
        credits: String,
        lasts: String,
        reason: String,
    ) -> Result<(), AppError> {
        let (actor, mut problems) = (self.auditor().await?, Vec::new());
        let amount = number(&mut problems, Field::CreditAmount, &credits, 1, MOST_CREDITS);
        let lasts = lasts.parse().map_err(|_| AppError::Malformed)?;
        let reason = read_reason(problems, &reason)?;
        let amount = amount.ok_or_else(|| invalid(vec![Field::CreditAmount]))?;
        self.answer(accounts::grant(&self.app.db, operation(&actor, id, &reason), amount, lasts).await)
    }

    async fn set_plan(&self, id: AccountId, plan: String, credits: String, reason: String) -> Result<(), AppError> {
        let (actor, mut problems) = (self.auditor().await?, Vec::new());
        let credits = number(&mut problems, Field::PeriodCredits, &credits, 0, MOST_CREDITS);
        let (reason, choice) = (read_reason(problems, &reason)?, PlanChoice { plan, credits });
        self.answer(accounts::set_plan(&self.app.db, operation(&actor, id, &reason), &choice).await)
    }

    async fn set_limits(&self, id: AccountId, limits: [String; 5], reason: String) -> Result<(), AppError> {
        let (actor, mut problems) = (self.auditor().await?, Vec::new());
        let limits = own_limits(&mut problems, &limits);
        let reason = read_reason(problems, &reason)?;
        self.answer(accounts::set_limits(&self.app.db, operation(&actor, id, &reason), limits).await)
    }

    async fn impersonate(&self, id: AccountId, reason: String) -> Result<(), AppError> {
        let (actor, reason) = (self.auditor().await?, read_reason(Vec::new(), &reason)?);
        self.answer(look::begin(&self.app.db, &self.session, operation(&actor, id, &reason)).await)
    }

    async fn stop_impersonation(&self) -> Result<Option<AccountId>, AppError> {
        let Some(look) = self.look() else { return Ok(None) };
        let actor = AuditActor::of_operator(&self.operator().await?);
        self.answer(look::end(&self.app.db, &self.session, &actor, look, clock::now()).await)?;
        Ok(Some(look.account))
    }

    async fn failed_jobs(&self, search: FailedWorkSearch) -> Result<FailedWorkPage, AppError> {
        self.operator().await?;
        let (db, filter) = (&self.app.db, self.failed_job_filter(&search).await?);
        Ok(FailedWorkPage {
            work: self.answer(failed_jobs::page(db, filter, search.after).await)?,
            found: self.answer(failed_jobs::count(db, filter).await)?,
            account_known: filter.account != Some(NO_ACCOUNT),
            now: clock::now(),
        })
    }

    async fn retry_failed_work(&self, chosen: ChosenWork, reason: String) -> Result<Done, AppError> {
        let actor = self.auditor().await?;
        let reason = match reason.trim() {
            "" => Reason::default(),
            reason => read_reason(Vec::new(), reason)?,
        };
        let chosen = self.chosen_jobs(chosen).await?;
        self.answer(failed_jobs::retry(&self.app, &actor, chosen, &reason, clock::now()).await)
    }

    async fn discard_failed_work(&self, chosen: ChosenWork, reason: String) -> Result<Done, AppError> {
        let (actor, reason) = (self.auditor().await?, read_reason(Vec::new(), &reason)?);
        let chosen = self.chosen_jobs(chosen).await?;
        self.answer(failed_jobs::discard(&self.app, &actor, chosen, &reason, clock::now()).await)
    }

    async fn health(&self, process: Option<InstanceId>) -> Result<Health, AppError> {
        self.operator().await?;
        self.health_page(process).await
    }

    async fn audit_log(
        &self,
        filter: AuditFilter,
        after: Option<i64>,
    ) -> Result<(Page<AuditRow, i64>, Option<(i64, String)>), AppError> {
        self.operator().await?;
        let page = self.answer(log::page(&self.app.db, &filter, after).await)?;
        let end = self.answer(log::end(&self.app.db).await)?;
        Ok((page, end.map(|end| (end.number, end.digest))))
    }

    async fn announcements(&self) -> Result<(Vec<Announcement>, OffsetDateTime), AppError> {
        self.operator().await?;
        Ok((self.answer(announcements::list(&self.app.db).await)?, clock::now()))
    }

    async fn announce(&self, form: AnnouncementForm) -> Result<(), AppError> {
        let (actor, now) = (self.auditor().await?, clock::now());
        let new = NewAnnouncement::parse(&form, now);
        let new = new.map_err(|fields| invalid(fields.into_iter().map(announcement_field).collect()))?;
        self.answer(announcements::announce(&self.app.db, &actor, &new, now).await)
    }

    async fn end_announcement(&self, id: AnnouncementId) -> Result<(), AppError> {
        let ended = announcements::end(&self.app.db, &self.auditor().await?, id, clock::now()).await;
        self.answer(ended)?.then_some(()).ok_or(AppError::NotFound)
    }
}

fn submitted(form: &EndpointForm) -> webhook_endpoints::EndpointForm<'_> {
    webhook_endpoints::EndpointForm {
        url: &form.webhook_url,
        description: &form.endpoint_description,
        events: &form.events,
    }
}

/// Parses the id of a template in a message of the editor. Invalid ids are not found.
fn template_id(id: &str) -> Result<TemplateId, AppError> {
    TemplateId::parse(id).ok_or(AppError::NotFound)
}

fn announcement_field(field: AnnouncementField) -> Field {
    match field {
        AnnouncementField::Words => Field::AnnouncementWords,
        AnnouncementField::LinkAddress => Field::LinkAddress,
        AnnouncementField::LinkWords => Field::LinkWords,
        AnnouncementField::Level => Field::Level,
        AnnouncementField::StartsAt => Field::StartsAt,
        AnnouncementField::EndsAt => Field::EndsAt,
    }
}
