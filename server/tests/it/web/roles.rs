//! Every page and function of the dashboard, attempted with every role and by a non-member. New ones must be added here
//! with the permission that they require.

use std::collections::BTreeSet;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use leptos::server_fn::axum::server_fn_paths;
use platen_app::routes::App;
use platen_domain::role::{Permission, Role};
use serde_json::{Value, json};
use strum::VariantArray;

use super::{service_with, site};
use crate::support::{service::TestService, studio::header, visitor::Visitor};

/// The permission that a function requires.
#[derive(Debug, Clone, Copy)]
enum Takes {
    /// None: the function is public.
    Nothing,
    /// A log-in, for functions that concern only the user.
    LogIn,
    /// A role in the account.
    Role(Permission),
    /// An operator.
    Operator,
}

use Permission::{
    DeleteAccount, ExportAccount, ManageBilling, ManageDestinations, ManageKeys, ManagePeople, ManageWebhooks, Produce,
    ReadLog, SeeAccount, SetPolicy, TransferOwnership,
};
use Takes::{LogIn, Nothing, Operator, Role as In};

/// A function, the permission that it requires, and fields.
type Line = (&'static str, Takes, &'static [(&'static str, &'static str)]);

/// An id that doesn't exist.
const NOBODYS: &str = "00000000-0000-0000-0000-000000000000";

const SVG: &[u8] = b"<svg xmlns='http://www.w3.org/2000/svg'><path d='M0 0h9'/></svg>";
const FONT: &[u8] = include_bytes!("../../../../public/fonts/ibm-plex-mono-latin-600-normal.woff2");

/// A name that is too long: 210 characters.
const LONG: &str = "\
    ..................................................................................................................\
    ................................................................................................";

/// Functions, the permissions that they require, and harmless fields: permitted calls fail for another reason or change
/// nothing. Names in braces stand for ids of the account's objects.
const FUNCTIONS: &[Line] = &[
    ("log-in", Nothing, &[]),
    ("log-out", Nothing, &[]),
    ("sign-up", Nothing, &[]),
    ("send-sign-up-again", Nothing, &[]),
    ("verify-sign-up", Nothing, &[]),
    ("request-password-reset", Nothing, &[]),
    ("reset-password", Nothing, &[]),
    ("theme", Nothing, &[]),
    ("join-as-new", Nothing, &[]),
    ("show-second-factor", Nothing, &[]),
    ("accept-invitation", LogIn, &[("token", "x")]),
    ("confirm-email", LogIn, &[("token", "x")]),
    ("switch-account", LogIn, &[("subject", NOBODYS)]),
    ("rename", LogIn, &[("name", "")]),
    ("request-email-change", LogIn, &[("new_email", "x")]),
    ("change-password", LogIn, &[("password", "x")]),
    ("confirm", LogIn, &[("password", "x")]),
    ("turn-second-factor-on", LogIn, &[("code", "x")]),
    ("renew-recovery-codes", LogIn, &[]),
    ("add-passkey", LogIn, &[("passkey_name", ""), ("passkey", "{}")]),
    ("remove-passkey", LogIn, &[("subject", NOBODYS)]),
    ("forget-device", LogIn, &[("subject", NOBODYS)]),
    ("end-session", LogIn, &[("subject", NOBODYS)]),
    ("end-other-sessions", LogIn, &[]),
    ("hide-announcement", LogIn, &[("subject", NOBODYS)]),
    ("dismiss-checklist", In(SeeAccount), &[]),
    ("create-first-key", In(ManageKeys), &[]),
    (
        "create-template",
        In(Produce),
        &[("template_name", LONG), ("beginning", "blank")],
    ),
    ("duplicate-template", In(Produce), &[("id", "{template}")]),
    (
        "change-template-kind",
        In(Produce),
        &[
            ("id", "{template}"),
            ("template_kind", "document"),
            ("template_handle", ""),
        ],
    ),
    ("delete-asset", In(Produce), &[("id", NOBODYS)]),
    ("set-asset-tags", In(Produce), &[("id", NOBODYS), ("tags", "brand")]),
    (
        "create-batch",
        In(Produce),
        &[
            ("name", ""),
            ("batch_template", "{template}"),
            ("batch_storage", ""),
            ("document_path", ""),
            ("file_names", ""),
            ("batch_mode", "test"),
        ],
    ),
    (
        "change-batch",
        In(Produce),
        // It waits for rows, so that there is nothing to resume.
        &[("id", "{batch}"), ("change", "resume")],
    ),
    ("set-batch-columns", In(Produce), &[("id", "{batch}")]),
    ("publish-users-of-partial", In(Produce), &[("id", "{template}")]),
    (
        "delete-template",
        In(Produce),
        &[("id", "{template}"), ("confirmation", "x")],
    ),
    (
        "restore-template",
        In(Produce),
        &[("id", "{template}"), ("number", "7")],
    ),
    (
        "save-template",
        In(Produce),
        &[
            ("id", "{template}"),
            ("template_name", ""),
            ("content", "a"),
            ("data", "{}"),
        ],
    ),
    (
        "publish-version",
        In(Produce),
        &[("id", "{template}"), ("subject", "7"), ("seen", "1"), ("note", "")],
    ),
    (
        "promote-template",
        In(Produce),
        &[("id", "{template}"), ("subject", "production:1"), ("due_at", "")],
    ),
    (
        "approve-promotion",
        In(Produce),
        &[("id", "{template}"), ("subject", NOBODYS)],
    ),
    (
        "cancel-promotion",
        In(Produce),
        &[("id", "{template}"), ("subject", NOBODYS)],
    ),
    (
        "compare-draft",
        In(Produce),
        &[("id", "{template}"), ("content", "x"), ("translations", "")],
    ),
    ("preview-template", In(Produce), &[("id", "{template}")]),
    (
        "generate-sample",
        In(Produce),
        &[("content", "{{ a }}"), ("data", "{}")],
    ),
    ("sample-of-template", In(Produce), &[("id", "{template}")]),
    (
        "play",
        In(Produce),
        &[
            ("attempt[body]", "{"),
            ("attempt[queued]", "false"),
            ("attempt[live]", "false"),
            ("attempt[idempotency_key]", ""),
        ],
    ),
    ("request-of-render", In(Produce), &[("id", "{render}")]),
    ("cancel-render", In(Produce), &[("id", "{render}")]),
    ("revoke-links", In(Produce), &[("id", "{render}")]),
    ("resend-callback", In(Produce), &[("id", "{render}")]),
    ("stop-callback", In(Produce), &[("id", "{render}")]),
    (
        "create-key",
        In(ManageKeys),
        &[
            ("key_name", ""),
            ("key_mode", "live"),
            ("expiry", "never"),
            ("expiry_day", ""),
            ("networks", ""),
        ],
    ),
    (
        "edit-key",
        In(ManageKeys),
        &[
            ("subject", "{key}"),
            ("key_name", ""),
            ("expiry", "never"),
            ("expiry_day", ""),
            ("networks", ""),
        ],
    ),
    (
        "rotate-key",
        In(ManageKeys),
        &[("subject", "{key}"), ("overlap", "999")],
    ),
    (
        "revoke-key",
        In(ManageKeys),
        &[("subject", "{key}"), ("confirmation", "x")],
    ),
    (
        "connect-bucket",
        In(ManageDestinations),
        &[("provider", "aws_s3"), ("amazon_access", "access_key")],
    ),
    (
        "edit-connection",
        In(ManageDestinations),
        &[("subject", NOBODYS), ("connection_name", "x")],
    ),
    ("rotate-credentials", In(ManageDestinations), &[("subject", NOBODYS)]),
    ("test-connection", In(ManageDestinations), &[("subject", NOBODYS)]),
    (
        "delete-connection",
        In(ManageDestinations),
        &[("subject", NOBODYS), ("confirmation", "x")],
    ),
    ("create-webhook-endpoint", In(ManageWebhooks), &[("webhook_url", "x")]),
    (
        "edit-webhook-endpoint",
        In(ManageWebhooks),
        &[("subject", "{endpoint}"), ("webhook_url", "x")],
    ),
    (
        "switch-webhook-endpoint",
        In(ManageWebhooks),
        &[("subject", "{endpoint}"), ("enable", "no")],
    ),
    (
        "test-webhook-endpoint",
        In(ManageWebhooks),
        &[("subject", "{endpoint}")],
    ),
    ("resend-delivery", In(ManageWebhooks), &[("id", NOBODYS)]),
    ("stop-delivery", In(ManageWebhooks), &[("id", NOBODYS)]),
    ("reveal-webhook-secret", In(ManageWebhooks), &[]),
    ("replace-webhook-secret", In(ManageWebhooks), &[]),
    ("invite", In(ManagePeople), &[("emails", "x"), ("role", "member")]),
    ("invite-again", In(ManagePeople), &[("subject", "{invitation}")]),
    (
        "change-role",
        In(ManagePeople),
        &[("subject", "{member}"), ("role", "member")],
    ),
    ("remove-member", In(ManagePeople), &[("subject", "{owner}")]),
    ("rename-account", In(SetPolicy), &[("account_name", "")]),
    ("keep-content", In(SetPolicy), &[("keep", "true")]),
    ("set-document-links", In(SetPolicy), &[("links", "3600")]),
    ("set-channels", In(SetPolicy), &[("channels", "A")]),
    ("require-second-factor", In(SetPolicy), &[("second_factor_from", "x")]),
    ("subscribe", In(ManageBilling), &[("plan", "Growth")]),
    ("buy-credits", In(ManageBilling), &[("subject", "credits_1000")]),
    ("open-portal", In(ManageBilling), &[]),
    ("change-plan", In(ManageBilling), &[("plan", "Growth"), ("as_of", "0")]),
    ("keep-plan", In(ManageBilling), &[]),
    ("set-overage-limit", In(ManageBilling), &[("overage_limit", "1")]),
    ("cancel-subscription", In(ManageBilling), &[]),
    ("resume-subscription", In(ManageBilling), &[]),
    ("request-deletion", In(DeleteAccount), &[("confirmation", "x")]),
    ("suspend-account", Operator, &[("subject", NOBODYS), ("reason", "x")]),
    ("restore-account", Operator, &[("subject", NOBODYS), ("reason", "x")]),
    (
        "grant-credits",
        Operator,
        &[
            ("subject", NOBODYS),
            ("credits", "1"),
            ("lasts", "period"),
            ("reason", "x"),
        ],
    ),
    (
        "set-plan",
        Operator,
        &[
            ("subject", NOBODYS),
            ("plan", "Free"),
            ("period_credits", ""),
            ("reason", "x"),
        ],
    ),
    (
        "set-limits",
        Operator,
        &[
            ("subject", NOBODYS),
            ("concurrency", "1"),
            ("rate_per_minute", ""),
            ("body_mib", ""),
            ("deadline_seconds", ""),
            ("reason", "x"),
        ],
    ),
    ("look-into-account", Operator, &[("subject", NOBODYS), ("reason", "x")]),
    (
        "retry-failed-work",
        Operator,
        &[
            ("chosen[0]", "render.{render}"),
            ("kind", ""),
            ("account", ""),
            ("reason", "x"),
        ],
    ),
    (
        "discard-failed-work",
        Operator,
        &[("chosen[0]", "all"), ("kind", ""), ("account", ""), ("reason", "x")],
    ),
    (
        "announce",
        Operator,
        &[
            ("words", "x"),
            ("link", ""),
            ("link_words", ""),
            ("level", "warning"),
            ("starts_at", ""),
            ("ends_at", ""),
        ],
    ),
    ("end-announcement", Operator, &[("subject", NOBODYS)]),
    // Users who aren't viewing an account are redirected to the list of accounts.
    ("stop-looking", LogIn, &[]),
];
/// The same for functions with permanent effects, which are tried last.
const LAST: &[Line] = &[
    ("undo-deletion", In(DeleteAccount), &[]),
    (
        "delete-webhook-endpoint",
        In(ManageWebhooks),
        &[("subject", "{endpoint}")],
    ),
    ("request-export", In(ExportAccount), &[]),
    ("begin-second-factor", LogIn, &[]),
    ("begin-passkey", LogIn, &[]),
    ("turn-second-factor-off", LogIn, &[]),
    ("withdraw-invitation", In(ManagePeople), &[("subject", "{invitation}")]),
    ("hand-over", In(TransferOwnership), &[("subject", "{member}")]),
    ("leave-account", In(SeeAccount), &[]),
];

/// Pages of the dashboard, and the permissions that they require.
const PAGES: &[(&str, Permission)] = &[
    ("/dashboard", SeeAccount),
    ("/dashboard/search", SeeAccount),
    ("/dashboard/billing", SeeAccount),
    ("/dashboard/settings", SeeAccount),
    ("/dashboard/settings/second-factor", SeeAccount),
    ("/dashboard/settings/passkey", SeeAccount),
    ("/dashboard/confirm", SeeAccount),
    ("/dashboard/team", SeeAccount),
    ("/dashboard/team/log", ReadLog),
    ("/dashboard/playground", Produce),
    ("/dashboard/templates", Produce),
    ("/dashboard/templates/:id", Produce),
    ("/dashboard/templates/:id/versions", Produce),
    ("/dashboard/templates/:id/releases", Produce),
    ("/dashboard/templates/:id/settings", Produce),
    ("/dashboard/templates/:id/pages", Produce),
    ("/dashboard/assets", Produce),
    ("/dashboard/assets/:id", Produce),
    ("/dashboard/fonts", Produce),
    ("/dashboard/renders", Produce),
    ("/dashboard/renders/:id", Produce),
    ("/dashboard/renders/:id/structure", Produce),
    ("/dashboard/batches", Produce),
    ("/dashboard/batches/new", Produce),
    ("/dashboard/batches/:id", Produce),
    ("/dashboard/api-keys", ManageKeys),
    ("/dashboard/api-keys/:id", ManageKeys),
    ("/dashboard/destinations", ManageDestinations),
    ("/dashboard/webhooks", ManageWebhooks),
];
/// Pages and files for operators; not found for all other users.
const OPERATORS: &[&str] = &[
    "/admin",
    "/admin/accounts",
    "/admin/accounts/:id",
    "/admin/health",
    "/admin/jobs",
    "/admin/announcements",
    "/admin/audit",
    "/admin/audit.csv",
];
/// Files and event streams of the dashboard, and the permissions that they require.
const FILES: &[(&str, Permission)] = &[
    ("/dashboard/team/log.csv", ReadLog),
    ("/dashboard/billing/usage.csv", SeeAccount),
    ("/dashboard/templates/:id/data.json", Produce),
    ("/dashboard/batches/:id/results.csv", Produce),
    ("/dashboard/batches/:id/errors.csv", Produce),
    ("/dashboard/events/renders", Produce),
    ("/dashboard/events/renders/:id", Produce),
    ("/dashboard/events/batches/:id", Produce),
];
/// The same for content, which operators who view the account don't see. Names in braces stand for ids.
const CONTENT: &[(&str, Permission)] = &[
    ("/dashboard/renders/{document}/document.pdf", Produce),
    ("/dashboard/renders/{document}/pages/1.png", Produce),
    ("/dashboard/renders/{document}/request.json", Produce),
    ("/dashboard/batches/{finished}/documents.zip", Produce),
    ("/dashboard/batches/{finished}/documents.pdf", Produce),
    ("/dashboard/assets/{logo}/picture", Produce),
    ("/dashboard/assets/{logo}/content", Produce),
    ("/dashboard/assets/{font}/font", Produce),
    ("/dashboard/fonts.css", Produce),
    ("/dashboard/exports/{export}", ExportAccount),
];
/// Addresses to which only forms are sent, and the pages to which they lead otherwise, as after a log-in.
const FORMS: &[(&str, &str)] = &[
    ("/dashboard/templates/:id/preview.pdf", "/dashboard/templates/:id"),
    ("/dashboard/batches/:id/preview.pdf", "/dashboard/batches/:id"),
    ("/dashboard/batches/:id/rows", "/dashboard/batches/:id"),
    ("/dashboard/assets/upload", "/dashboard/assets"),
];

/// Requests a page or file to its end, or a stream of events; returns the status.
async fn status(visitor: &Visitor, path: &str) -> u16 {
    let answer = visitor.get(path).await;
    let status = answer.status().as_u16();
    if !path.contains("/events/") {
        answer.bytes().await.expect("a body");
    }
    status
}

/// An account with one user in each role, and a user with another account.
struct Stage {
    service: TestService,
    account: String,
    people: Vec<(Option<Role>, Visitor)>,
    /// The ids for the names in braces.
    own: Vec<(&'static str, String)>,
}

impl Stage {
    async fn set(service: TestService) -> Self {
        let account = service.account("owner@example.org");
        let mut people = Vec::new();
        for &role in Role::VARIANTS {
            let email = format!("{}@example.org", role.into_str());
            if role != Role::Owner {
                service.account(&email);
                service.join(&account.id, &email, role.into_str()).await;
            }
            let mut visitor = Visitor::log_in(&service, &email).await;
            visitor.switch_to(&account.id).await;
            people.push((Some(role), visitor));
        }
        service.account("stranger@example.org");
        people.push((None, Visitor::log_in(&service, "stranger@example.org").await));
        let invited = [("emails", "guest@example.org"), ("role", "member")];
        let owner = people.iter().find(|(role, _)| *role == Some(Role::Owner));
        let answer = owner.expect("an owner").1.submit("invite", &invited).await;
        assert_eq!(header(&answer, "location"), "/dashboard/team?done=invited");
        let endpoint = [("webhook_url", "https://hooks.invalid/"), ("events[0]", "key.expiring")];
        let answer = owner
            .expect("an owner")
            .1
            .submit("create-webhook-endpoint", &endpoint)
            .await;
        assert_eq!(header(&answer, "location"), "/dashboard/webhooks?done=created");
        let make = async |path: &str, body: &Value| {
            let request = service.client.post(service.url(path)).bearer_auth(&account.key);
            let made = request.json(body).send().await.expect("an answer");
            let made: Value = made.json().await.expect("JSON");
            made["data"]["id"].as_str().expect("an id").to_owned()
        };
        let template = json!({"template": {"name": "Letter", "content": "Dear"}});
        let asset =
            |name: &str, content: &[u8]| json!({"asset": {"name": name, "content": BASE64_STANDARD.encode(content)}});
        let id_of = async |query: &str| service.text(query).await;
        let user = |role: &str| format!("select id::text from users where email = '{role}@example.org'");
        let template = make("/api/v1/templates", &template).await;
        let part = json!({"type": "template", "content": {"template_id": template}});
        let batch = json!({"batch": {"render": {"parts": [part]}}});
        let mut with_row = batch.clone();
        with_row["batch"]["rows"] = json!([{"number": 1}]);
        let finished = make("/api/v1/batches", &with_row).await;
        service
            .number_is(1, "select count(*) from batches where state = 'ended'")
            .await;
        let document = id_of("select render_id::text from batch_rows").await;
        // Thumbnails are made when the render is viewed.
        let owner = owner.expect("an owner");
        owner.1.page(&format!("/dashboard/renders/{document}")).await;
        service.number_is(1, "select count(*) from render_thumbnails").await;
        let answer = owner.1.submit("request-export", &[]).await;
        assert_eq!(header(&answer, "location"), "/dashboard/settings?done=export");
        service
            .number_is(1, "select count(*) from exports where state = 'ready'")
            .await;
        let own = vec![
            ("{key}", account.key_id.clone()),
            ("{template}", template),
            ("{batch}", make("/api/v1/batches", &batch).await),
            ("{finished}", finished),
            ("{document}", document),
            ("{asset}", make("/api/v1/assets", &asset("a.css", b"p {}")).await),
            ("{logo}", make("/api/v1/assets", &asset("logo.svg", SVG)).await),
            ("{font}", make("/api/v1/assets", &asset("text.woff2", FONT)).await),
            ("{export}", id_of("select id::text from exports").await),
            ("{render}", service.queued(&account, &json!({"parts": ["<p>"]})).await),
            ("{invitation}", id_of("select id::text from invitations").await),
            ("{endpoint}", id_of("select id::text from webhook_endpoints").await),
            ("{member}", id_of(&user("member")).await),
            ("{owner}", id_of(&user("owner")).await),
        ];
        Self {
            service,
            account: account.id,
            people,
            own,
        }
    }

    /// Replaces the account's ids in a response, because some responses repeat the input.
    fn about_nothing(&self, answer: &Value) -> String {
        let answer = answer.to_string();
        self.own
            .iter()
            .fold(answer, |answer, (_, id)| answer.replace(id, NOBODYS))
    }

    /// Returns the address of a page for one of the account's objects.
    fn path(&self, page: &str) -> String {
        let id = match page {
            page if page.contains("/templates/") => "{template}",
            page if page.contains("/assets/") => "{asset}",
            page if page.contains("/api-keys/") => "{key}",
            page if page.contains("/batches/") => "{batch}",
            _ => "{render}",
        };
        self.filled(&page.replace(":id", id))
    }

    fn is_own(&self, text: &str) -> bool {
        self.own.iter().any(|(name, _)| text == *name)
    }

    fn filled(&self, text: &str) -> String {
        self.own
            .iter()
            .fold(text.to_owned(), |text, (name, id)| text.replace(name, id))
    }

    async fn call(&self, visitor: &Visitor, function: &str, fields: Vec<(&str, String)>) -> Value {
        if function != "preview-template" {
            return visitor.call(function, &fields).await;
        }
        let paper = json!({
            "size": "A4", "landscape": false, "scale": "1", "margins": ["", "", "", ""], "prefer_css": true,
            "backgrounds": true,
        });
        let wanted = json!({
            "id": fields[0].1, "content": "{{", "data": "{}", "paper": paper, "dots_per_inch": 72, "page": 1,
        });
        visitor.call_with_json(function, &json!({"wanted": wanted})).await
    }

    /// Calls a function as every user.
    async fn try_function(&self, function: &str, takes: Takes, fields: &[(&str, &str)]) {
        for (role, visitor) in &self.people {
            let own = fields.iter().map(|(name, value)| (*name, self.filled(value)));
            let answer = self.call(visitor, function, own.collect()).await;
            let told = format!("{function} as {role:?}: {answer}");
            assert_ne!(answer, "Malformed", "{told}: fields that the function can read");
            let refused = !answer["NotAllowed"].is_null();
            match (takes, role) {
                (Nothing, _) => unreachable!("nobody is refused"),
                (Operator, _) => assert_eq!(answer, "NotFound", "{told}"),
                (In(permission), Some(role)) => assert_eq!(refused, !role.may(permission), "{told}"),
                // Owners of another account have all permissions there.
                (LogIn, _) | (In(_), None) => assert!(!refused, "{told}"),
            }
            if role.is_none() && fields.iter().any(|(_, value)| self.is_own(value)) {
                // Other accounts' objects are indistinguishable from missing ones.
                let nobodys = fields.iter().map(|(name, value)| {
                    let id = if self.is_own(value) { NOBODYS } else { value };
                    (*name, id.to_owned())
                });
                let of_nothing = self.call(visitor, function, nobodys.collect()).await;
                assert_eq!(of_nothing.to_string(), self.about_nothing(&answer), "{told}");
            }
        }
    }
}

#[tokio::test]
async fn everybody_may_do_what_the_table_says_and_nothing_else() {
    let site = site();
    let stage = Stage::set(service_with(site.path()).await).await;
    let listed = FUNCTIONS
        .iter()
        .chain(LAST)
        .map(|(function, ..)| format!("/web/{function}"));
    let known: BTreeSet<_> = server_fn_paths().map(|(path, _)| path.to_owned()).collect();
    assert_eq!(
        listed.collect::<BTreeSet<_>>(),
        known,
        "each function needs a line that says what it takes"
    );
    for &(page, permission) in PAGES.iter().chain(FILES).chain(CONTENT) {
        let path = stage.path(page);
        for (role, visitor) in &stage.people {
            let expected = match role {
                Some(role) if role.may(permission) => 200,
                Some(_) => 403,
                // A stream of another account's object is silent.
                None if page.starts_with("/dashboard/events/") => 200,
                None if page.contains([':', '{']) => 404,
                None => 200,
            };
            assert_eq!(status(visitor, &path).await, expected, "{path} as {role:?}");
        }
    }
    for (form, page) in FORMS {
        for (role, visitor) in &stage.people {
            let answer = visitor.get(&stage.path(form)).await;
            assert_eq!(answer.status(), 303, "{form} as {role:?}");
            assert_eq!(header(&answer, "location"), stage.path(page), "{form} as {role:?}");
        }
    }
    for path in OPERATORS {
        let path = path.replace(":id", &stage.account);
        for (role, visitor) in &stage.people {
            assert_eq!(visitor.get(&path).await.status(), 404, "{path} as {role:?}");
        }
    }
    for (function, takes, fields) in FUNCTIONS.iter().chain(LAST) {
        if !matches!(takes, Nothing) {
            stage.try_function(function, *takes, fields).await;
        }
    }
}

#[tokio::test]
async fn a_viewing_operator_sees_every_page_and_changes_nothing() {
    let site = site();
    let stage = Stage::set(service_with(site.path()).await).await;
    let mut operator = Visitor::operator(&stage.service, "op@example.org").await;
    let page = format!("/admin/accounts/{}", stage.account);
    let fields = [("subject", stage.account.as_str()), ("reason", "x")];
    let answer = operator.submit_from(&page, "look-into-account", &fields).await;
    assert_eq!(header(&answer, "location"), "/dashboard");
    operator.remember(&answer);
    for (page, _) in PAGES.iter().chain(FILES) {
        let path = stage.path(page);
        assert_eq!(status(&operator, &path).await, 200, "{path}");
    }
    for (file, _) in CONTENT {
        let path = stage.path(file);
        assert_eq!(status(&operator, &path).await, 403, "{path}");
    }
    for (function, takes, fields) in FUNCTIONS.iter().chain(LAST) {
        if matches!(takes, Nothing | Operator) || *function == "stop-looking" {
            continue;
        }
        let own = fields.iter().map(|(name, value)| (*name, stage.filled(value)));
        let answer = stage.call(&operator, function, own.collect()).await;
        assert_eq!(answer, "OnlyLooking", "{function}");
    }
}

#[tokio::test]
async fn of_a_suspended_account_everybody_reads_what_they_may_and_changes_nothing_but_the_owner_may_export_it() {
    let site = site();
    let stage = Stage::set(service_with(site.path()).await).await;
    let suspended = stage
        .service
        .command(&["accounts", "suspend", "--account", &stage.account], "");
    assert_eq!(suspended.code, Some(0), "{suspended:?}");
    for (role, visitor) in &stage.people {
        let Some(role) = role else { continue };
        for (page, permission) in PAGES.iter().chain(FILES).chain(CONTENT) {
            let expected = if role.may(*permission) { 200 } else { 403 };
            assert_eq!(status(visitor, &stage.path(page)).await, expected, "{page} as {role:?}");
        }
        for (function, takes, fields) in FUNCTIONS.iter().chain(LAST) {
            let In(permission) = takes else { continue };
            let own = fields.iter().map(|(name, value)| (*name, stage.filled(value)));
            let answer = stage.call(visitor, function, own.collect()).await;
            if role.may(*permission) && *permission == ExportAccount {
                assert_eq!(answer, Value::Null, "{function} as {role:?}");
            } else if role.may(*permission) {
                assert_eq!(answer, "Suspended", "{function} as {role:?}");
            } else {
                assert!(!answer["NotAllowed"].is_null(), "{function} as {role:?}: {answer}");
            }
        }
    }
}

#[tokio::test]
async fn every_page_of_the_dashboard_has_a_line() {
    let routes = leptos_axum::generate_route_list(App);
    let known: BTreeSet<_> = routes
        .iter()
        .map(|route| route.path().to_owned())
        .filter(|path| path.starts_with("/dashboard") || path.starts_with("/admin"))
        .collect();
    let pages = PAGES.iter().map(|(path, _)| path);
    let listed = pages.chain(OPERATORS).filter(|path| !path.contains('.'));
    let listed: BTreeSet<_> = listed.map(|path| path.replace(":id", "{id}")).collect();
    assert_eq!(listed, known, "each page needs a line that says what it takes");
}
