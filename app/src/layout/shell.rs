//! The frame of every dashboard page: the rail, and a sheet with a slug at its top.

pub mod admin;
pub mod announcements;
pub mod palette;
pub mod rail;
pub mod slug;
pub mod switcher;

use std::iter;

use leptos::{either::Either, prelude::*};
use leptos_meta::Title;
use platen_domain::{billing::PaymentDue, number::counted, role::Permission};
use time::OffsetDateTime;

use crate::{
    backend::redirect,
    error::AppError,
    layout::{
        brand::Brand,
        card::Card,
        page::loaded_or,
        shell::{
            announcements::Announcements,
            rail::{Entry, Rail},
            slug::{Slug, api::LogOut},
            switcher::Accounts,
        },
    },
    model::{account_summary::AccountSummary, own_path::SECOND_FACTOR_FIRST},
    outcome::{ButtonForm, Outcome},
    pages::admin::account::api::StopImpersonation,
    read_only::ReadOnly,
    ui::{
        button::{ButtonLink, Rank, Size, Submit, SubmitButton},
        icon::{Glyph, Icon},
        moment::{Moment, day, day_and_year},
        notice::{ErrorNotice, WarningNotice},
    },
};

/// Width of a page's content.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ShellKind {
    /// Limited to a readable width.
    #[default]
    Page,
    /// Full width. The rail shows only icons.
    Workbench,
}

/// A page of the dashboard.
#[component]
pub fn Shell(
    /// Title of the document and of the slug.
    #[prop(into)]
    title: String,
    /// The rail entry that is highlighted.
    current: Entry,
    /// The breadcrumb of the page between the entry's own and this one, as an item of the list.
    #[prop(optional)]
    parent: Option<AnyView>,
    #[prop(optional)] kind: ShellKind,
    /// The content, with its heading.
    children: Children,
) -> impl IntoView {
    let heading = title.clone();
    let (class, class_of_content) = match kind {
        ShellKind::Page => ("shell", "shell__content"),
        ShellKind::Workbench => ("shell shell--compact", "shell__content shell__content--full"),
    };
    view! {
        <Title text=title />
        <a class="skip-link" href="#main">
            "Skip to content"
        </a>
        {loaded_or(
            |backend| async move { backend.summary().await },
            move |summary| {
            let read_only = summary.read_only;
            view! {
                <div class=class>
                    <Bar>
                        // The overview has one of its own, and the playground is its target.
                        {(!matches!(current, Entry::Overview | Entry::Playground))
                            .then(|| {
                                view! {
                                    <ButtonLink href="/dashboard/playground" size=Size::Small>
                                        "New render"
                                    </ButtonLink>
                                }
                            })}
                    </Bar>
                    <Rail summary=summary.clone() current />
                    <div class="shell__sheet">
                        <Impersonation summary=summary.clone() />
                        <Slug
                            person=summary.person.clone()
                            operator=summary.operator
                            crumbs=crumbs(&summary, current, &heading)
                            parent
                            title=heading
                        />
                        <main class=class_of_content id="main">
                            <SuspensionNotice read_only />
                            <Announcements announcements=summary.announcements.clone() />
                            <SecondFactorNotice from=summary.second_factor_from />
                            <Reminder due=summary.payment_due />
                            <Farewell summary />
                            {content_with(read_only, children)}
                        </main>
                    </div>
                </div>
            }
            },
            |error| {
                if error == AppError::SecondFactorFirst {
                    redirect(SECOND_FACTOR_FIRST);
                }
                view! { <NoAccount error /> }
            },
        )}
    }
}

/// The top bar of small screens, with the button that opens the rail.
#[component]
pub fn Bar(
    /// Content at its end.
    #[prop(optional)]
    children: Option<Children>,
) -> impl IntoView {
    view! {
        <nav class="shell__bar" aria-label="Top">
            <button class="button button--quiet button--icon" type="button" popovertarget="rail" aria-label="Menu">
                <Icon glyph=Glyph::Menu />
            </button>
            <Brand />
            <span class="shell__spring"></span>
            {children.map(|children| children())}
        </nav>
    }
}

/// Returns the breadcrumbs: the account and, unless this is the entry's own page, the rail entry.
fn crumbs(summary: &AccountSummary, current: Entry, title: &str) -> Vec<(String, &'static str)> {
    let entry = (title != current.name()).then(|| (current.name().to_owned(), current.path()));
    let account = (summary.account.clone(), Entry::Overview.path());
    iter::once(account).chain(entry).collect()
}

/// Shown to users without an account to act for: they can only switch account or log out.
#[component]
fn NoAccount(error: AppError) -> impl IntoView {
    let log_out = Outcome::of::<LogOut>();
    view! {
        <Card>
            <h1 class="auth__title">"No access to an account"</h1>
            <div class="auth__form">
                <ErrorNotice error />
                {loaded_or(
                    |backend| async move { backend.own_accounts().await },
                    |accounts| view! { <Accounts accounts /> },
                    |_| (),
                )}
                <ButtonForm outcome=log_out>
                    <Submit rank=Rank::Plain>"Log out"</Submit>
                </ButtonForm>
            </div>
        </Card>
    }
}

/// Renders the content of the page, which learns from the context whether it is read-only; bar and rail don't. The owner
/// of that context lives as long as the page: a `Provider`'s is dropped before suspended content is rendered.
fn content_with(read_only: Option<ReadOnly>, children: Children) -> AnyView {
    let owner = Owner::new();
    let content = owner.with(|| {
        provide_context(read_only);
        children()
    });
    on_cleanup(move || drop(owner));
    content
}

/// The impersonation banner, on every page, with a button that ends it.
#[component]
fn Impersonation(summary: AccountSummary) -> impl IntoView {
    let outcome = Outcome::of::<StopImpersonation>();
    let Some(ReadOnly::Impersonation { minutes_left }) = summary.read_only else {
        return None;
    };
    Some(view! {
        <div class="impersonation" role="status">
            <Icon glyph=Glyph::Eye />
            <span>
                <b>"Viewing " {summary.account} " as its owner."</b>
                " Read-only, "
                {counted(minutes_left, "minute", "minutes")}
                " left."
            </span>
            <ButtonForm outcome>
                <SubmitButton size=Size::Small>"Exit"</SubmitButton>
            </ButtonForm>
        </div>
    })
}

/// Shown while the account is suspended.
#[component]
fn SuspensionNotice(read_only: Option<ReadOnly>) -> impl IntoView {
    (read_only == Some(ReadOnly::Suspended)).then(|| {
        view! {
            <WarningNotice>
                "This account is suspended and read-only: API keys are rejected, and queued renders wait. Nothing is deleted, and the owner can export the account in Settings. Contact the operator of this service."
            </WarningNotice>
        }
    })
}

/// Shown while a payment is due.
#[component]
fn Reminder(due: Option<PaymentDue>) -> impl IntoView {
    due.map(|due| {
        let words = match due {
            PaymentDue::Until(at) => {
                let day = day(at.date());
                format!("The last payment failed. Pay the invoice by {day} to keep your plan. Otherwise, the plan changes to Free; nothing is deleted.")
            }
            PaymentDue::Overdue => {
                "The last payment failed, and the plan changed to Free. Pay the invoice to restore your plan.".to_owned()
            }
        };
        view! { <WarningNotice>{words} " " <a href="/dashboard/billing">"Usage and billing"</a></WarningNotice> }
    })
}

/// Shown while deletion of the account is scheduled.
#[component]
fn Farewell(summary: AccountSummary) -> impl IntoView {
    let owns = summary.role.may(Permission::DeleteAccount);
    summary.delete_at.map(|at| {
        view! {
            <WarningNotice>
                "This account will be deleted on " <Moment at /> ". "
                {if owns {
                    Either::Left(
                        view! {
                            "You can cancel the deletion in "
                            <a href="/dashboard/settings#delete">"Settings"</a>
                            "."
                        },
                    )
                } else {
                    Either::Right("Its owner can cancel the deletion.")
                }}
            </WarningNotice>
        }
    })
}

/// Shown when the account will require a second factor that the user hasn't set up.
#[component]
fn SecondFactorNotice(from: Option<OffsetDateTime>) -> impl IntoView {
    from.map(|from| {
        view! {
            <WarningNotice>
                "This account requires a second factor from " {day_and_year(from.date())} ". Set one up in "
                <a href="/dashboard/settings#second-factor">"Settings"</a> "."
            </WarningNotice>
        }
    })
}
