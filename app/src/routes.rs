//! The route table.

use leptos::prelude::*;
use leptos_meta::{Title, provide_meta_context};
use leptos_router::{
    SsrMode,
    components::{Route, Router, Routes},
    path,
};

use crate::pages::{
    admin::{
        account::Account, accounts::Accounts, announcements::Announcements, audit_log::AuditLog,
        failed_jobs::FailedJob, health::SystemHealth,
    },
    api_key::ApiKey,
    api_keys::ApiKeys,
    assets::{Assets, detail::Asset},
    auth::{
        check_mail::CheckMail, confirm::Confirm, confirm_email::ConfirmEmail, forgot_password::ForgotPassword,
        invitation::Invitation, log_in::LogIn, reset_password::ResetPassword, second_step::SecondStep, sign_up::SignUp,
        verify::Verify,
    },
    batches::{Batches, create::NewBatch, detail::BatchPage},
    billing::Billing,
    connections::Connections,
    fonts::Fonts,
    landing::Landing,
    not_found::NotFound,
    overview::Overview,
    playground::Playground,
    render::{Render, structure::Structure},
    renders::Renders,
    search::Search,
    second_factor::{SecondFactor, passkey::NewPasskey},
    settings::Settings,
    team::{Team, log::Log},
    template::{
        Template, pages::Pages, releases::Releases, settings::Settings as TemplateSettings, versions::Versions,
    },
    template_syntax::TemplateSyntax,
    templates::Templates,
    webhooks::Webhooks,
};

/// All routes. Each page is [`SsrMode::Async`]: the first response is complete and has the right status.
#[component]
pub fn App() -> impl IntoView {
    provide_meta_context();
    view! {
        <Title formatter=|title: String| format!("{title} · Platen") />
        <Router>
            <Routes fallback=NotFound>
                <Route path=path!("/") view=Landing ssr=SsrMode::Async />
                <Route path=path!("/docs/templates") view=TemplateSyntax ssr=SsrMode::Async />
                <Route path=path!("/sign-up") view=SignUp ssr=SsrMode::Async />
                <Route path=path!("/sign-up/verify") view=Verify ssr=SsrMode::Async />
                <Route path=path!("/check-mail") view=CheckMail ssr=SsrMode::Async />
                <Route path=path!("/invitation") view=Invitation ssr=SsrMode::Async />
                <Route path=path!("/log-in") view=LogIn ssr=SsrMode::Async />
                <Route path=path!("/log-in/second-factor") view=SecondStep ssr=SsrMode::Async />
                <Route path=path!("/forgot-password") view=ForgotPassword ssr=SsrMode::Async />
                <Route path=path!("/reset-password") view=ResetPassword ssr=SsrMode::Async />
                <Route path=path!("/settings/confirm-email") view=ConfirmEmail ssr=SsrMode::Async />
                <Route path=path!("/dashboard") view=Overview ssr=SsrMode::Async />
                <Route path=path!("/dashboard/playground") view=Playground ssr=SsrMode::Async />
                <Route path=path!("/dashboard/templates") view=Templates ssr=SsrMode::Async />
                <Route path=path!("/dashboard/templates/:id") view=Template ssr=SsrMode::Async />
                <Route path=path!("/dashboard/templates/:id/versions") view=Versions ssr=SsrMode::Async />
                <Route path=path!("/dashboard/templates/:id/pages") view=Pages ssr=SsrMode::Async />
                <Route path=path!("/dashboard/templates/:id/releases") view=Releases ssr=SsrMode::Async />
                <Route path=path!("/dashboard/templates/:id/settings") view=TemplateSettings ssr=SsrMode::Async />
                <Route path=path!("/dashboard/assets") view=Assets ssr=SsrMode::Async />
                <Route path=path!("/dashboard/assets/:id") view=Asset ssr=SsrMode::Async />
                <Route path=path!("/dashboard/fonts") view=Fonts ssr=SsrMode::Async />
                <Route path=path!("/dashboard/batches") view=Batches ssr=SsrMode::Async />
                <Route path=path!("/dashboard/batches/new") view=NewBatch ssr=SsrMode::Async />
                <Route path=path!("/dashboard/batches/:id") view=BatchPage ssr=SsrMode::Async />
                <Route path=path!("/dashboard/billing") view=Billing ssr=SsrMode::Async />
                <Route path=path!("/dashboard/api-keys") view=ApiKeys ssr=SsrMode::Async />
                <Route path=path!("/dashboard/api-keys/:id") view=ApiKey ssr=SsrMode::Async />
                <Route path=path!("/dashboard/destinations") view=Connections ssr=SsrMode::Async />
                <Route path=path!("/dashboard/team") view=Team ssr=SsrMode::Async />
                <Route path=path!("/dashboard/team/log") view=Log ssr=SsrMode::Async />
                <Route path=path!("/dashboard/settings") view=Settings ssr=SsrMode::Async />
                <Route path=path!("/dashboard/settings/second-factor") view=SecondFactor ssr=SsrMode::Async />
                <Route path=path!("/dashboard/settings/passkey") view=NewPasskey ssr=SsrMode::Async />
                <Route path=path!("/dashboard/confirm") view=Confirm ssr=SsrMode::Async />
                <Route path=path!("/dashboard/search") view=Search ssr=SsrMode::Async />
                <Route path=path!("/dashboard/renders") view=Renders ssr=SsrMode::Async />
                <Route path=path!("/dashboard/renders/:id") view=Render ssr=SsrMode::Async />
                <Route path=path!("/dashboard/renders/:id/structure") view=Structure ssr=SsrMode::Async />
                <Route path=path!("/dashboard/webhooks") view=Webhooks ssr=SsrMode::Async />
                <Route path=path!("/admin") view=Accounts ssr=SsrMode::Async />
                <Route path=path!("/admin/accounts") view=Accounts ssr=SsrMode::Async />
                <Route path=path!("/admin/accounts/:id") view=Account ssr=SsrMode::Async />
                <Route path=path!("/admin/health") view=SystemHealth ssr=SsrMode::Async />
                <Route path=path!("/admin/jobs") view=FailedJob ssr=SsrMode::Async />
                <Route path=path!("/admin/announcements") view=Announcements ssr=SsrMode::Async />
                <Route path=path!("/admin/audit") view=AuditLog ssr=SsrMode::Async />
            </Routes>
        </Router>
    }
}
