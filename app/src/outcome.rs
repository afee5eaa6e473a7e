//! Forms and their results. A rejected form leads back to its page, whose address then contains the error, but nothing
//! that was typed: those values are in a cookie that expires soon. A completed form redirects to a page with `?done=`
//! and a word for the action.

use leptos::{
    prelude::*,
    server::ServerActionError,
    server_fn::{ServerFn, error::ServerFnUrlError},
};
use leptos_router::hooks::use_query_map;

use crate::{
    csrf::CsrfField,
    error::AppError,
    model::rejection::{Field, Rejection},
    read_only::{Changes, is_read_only},
    ui::{
        button::{CloseButton, Rank, Size, SubmitButton},
        dialog::{Dialog, Weight},
        field::{Face, TextField},
        form_errors::FormErrors,
        notice::DoneNotice,
    },
};

/// Values that were typed into a rejected form, in the context of the page to which it leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypedValues {
    /// Path of the form's function.
    pub function: String,
    pub values: Vec<(Field, String)>,
}

/// The result of the last submission of a form.
#[derive(Clone, Copy)]
pub struct Outcome {
    /// Address of the server function.
    url: &'static str,
    /// Id of the item that the form is about, where the page has one form for each of several items.
    subject: StoredValue<Option<String>>,
    error: StoredValue<Option<AppError>>,
}

impl Outcome {
    /// Reads the result from the address of the page.
    pub fn of<F: ServerFn<Error = AppError>>() -> Self {
        Self::new::<F>(None, |_| true)
    }

    /// As [`Self::of`], for a page with one form for each of several items: reads the result only if it is about this
    /// item. The form names the item by [`Field::Subject`].
    pub fn about<F: ServerFn<Error = AppError>>(subject: &str) -> Self {
        Self::new::<F>(Some(subject.to_owned()), |error| error.subject() == Some(subject))
    }

    /// As [`Self::of`], for errors that belong to none of the [`Self::about`] forms. They are shown at the top of the
    /// page.
    pub fn about_nothing<F: ServerFn<Error = AppError>>() -> Self {
        Self::new::<F>(None, |error| error.subject().is_none())
    }

    fn new<F: ServerFn<Error = AppError>>(subject: Option<String>, concerns: impl Fn(&AppError) -> bool) -> Self {
        let error = use_context::<ServerActionError>().filter(|error| error.path() == F::PATH);
        let mut error = error.map(|error| ServerFnUrlError::<AppError>::decode_err(error.err()));
        if let Some(AppError::Rejected(rejection)) = &mut error
            && let Some(typed) = use_context::<TypedValues>().filter(|typed| typed.function == F::PATH)
        {
            rejection.typed = typed.values;
        }
        Self {
            url: F::url(),
            subject: StoredValue::new(subject),
            error: StoredValue::new(error.filter(concerns)),
        }
    }

    /// Returns the `id` of a field. It is unique even if several forms about one item have fields of the same name.
    pub fn id(self, field: Field) -> String {
        let function = self.url.rsplit('/').next().unwrap_or_default();
        self.subject.with_value(|subject| match subject {
            Some(subject) => format!("{function}-{}-{subject}", field.into_str()),
            None => field.into_str().to_owned(),
        })
    }

    /// Returns the error of the form.
    pub fn error(self) -> Option<AppError> {
        self.error.get_value()
    }

    /// Returns the validation error of a field.
    pub fn problem(self, field: Field) -> Option<&'static str> {
        let faulty = self.rejection(|rejection| rejection.faulty().contains(&field));
        faulty.unwrap_or_default().then(|| field.rule())
    }

    /// Returns the value typed into a field.
    pub fn typed(self, field: Field) -> String {
        self.typed_or(field, "")
    }

    /// Returns the value typed into a field, or `first` if the form was not rejected.
    pub fn typed_or(self, field: Field, first: &str) -> String {
        // Unchecked boxes are not submitted: in a rejected form, a field without a value is empty.
        let typed = self.rejection(|rejection| rejection.typed(field).unwrap_or_default().to_owned());
        typed.unwrap_or_else(|| first.to_owned())
    }

    fn rejection<T>(self, read: impl FnOnce(&Rejection) -> T) -> Option<T> {
        self.error.with_value(|error| match error {
            Some(AppError::Rejected(rejection)) => Some(read(rejection)),
            _ => None,
        })
    }
}

/// A form with its error at the top.
#[component]
pub fn PageForm(
    /// Result of the last submission.
    outcome: Outcome,
    /// `class` of the form.
    #[prop(optional)]
    class: &'static str,
    /// Fields and buttons.
    children: Children,
) -> impl IntoView {
    view! {
        <form class=class method="post" action=outcome.url>
            <CsrfField />
            <SubjectField outcome />
            <OutcomeErrors outcome />
            <Changes>{children()}</Changes>
        </form>
    }
}

/// A form without visible fields: a button in a row or a bar. The page shows its error elsewhere, with
/// [`OutcomeErrors`].
#[component]
pub fn ButtonForm(
    /// Result of the last submission.
    outcome: Outcome,
    /// `class` of the form.
    #[prop(optional)]
    class: Option<&'static str>,
    /// Hidden fields and the button.
    children: Children,
) -> impl IntoView {
    view! {
        <form class=class method="post" action=outcome.url>
            <CsrfField />
            <SubjectField outcome />
            <Changes>{children()}</Changes>
        </form>
    }
}

/// A [`ButtonForm`] with a small button in a row. `of` completes its label for screen readers.
#[component]
pub fn RowButton(
    /// Result of the last submission.
    outcome: Outcome,
    #[prop(optional)] rank: Rank,
    words: &'static str,
    #[prop(into)] of: String,
) -> impl IntoView {
    view! {
        <ButtonForm outcome>
            <SubmitButton rank size=Size::Small>
                {words}
                <span class="visually-hidden">{of}</span>
            </SubmitButton>
        </ButtonForm>
    }
}

/// A narrow form with one button at its end.
#[component]
pub fn NarrowForm(
    /// Result of the last submission.
    outcome: Outcome,
    /// Label of the button.
    action: &'static str,
    /// Fields.
    children: Children,
) -> impl IntoView {
    view! {
        <PageForm outcome class="fields fields--narrow">
            {children()}
            <div>
                <SubmitButton>{action}</SubmitButton>
            </div>
        </PageForm>
    }
}

/// Hidden field with the id of the item that the form is about.
#[component]
fn SubjectField(outcome: Outcome) -> impl IntoView {
    let subject = outcome.subject.get_value();
    subject.map(|subject| view! { <input type="hidden" name=Field::Subject.into_str() value=subject /> })
}

/// The errors of a form.
#[component]
pub fn OutcomeErrors(
    /// Result of the last submission.
    outcome: Outcome,
) -> impl IntoView {
    outcome.error().map(|error| {
        let faulty = match &error {
            AppError::Rejected(rejection) => rejection.faulty(),
            _ => &[],
        };
        let fields = faulty.iter().map(|field| (outcome.id(*field), field.rule()));
        view! { <FormErrors title=error.to_string() fields=fields.collect() /> }
    })
}

/// A text field with its typed value and validation error.
#[component]
pub fn FormField(
    /// Result of the last submission.
    outcome: Outcome,
    field: Field,
    #[prop(into)] label: String,
    /// `type` of the input.
    #[prop(default = "text")]
    kind: &'static str,
    /// `autocomplete` of the input.
    #[prop(default = "off")]
    autocomplete: &'static str,
    /// Help text above the input.
    #[prop(optional)]
    hint: Option<&'static str>,
    /// Initial value.
    #[prop(optional, into)]
    value: String,
    /// Whether it may be empty.
    #[prop(optional)]
    optional: bool,
    /// Whether it is focused when the page or its dialog opens.
    #[prop(optional)]
    focus: bool,
    #[prop(optional)] maybe_hidden: bool,
    #[prop(optional)] face: Face,
) -> impl IntoView {
    let value = outcome.typed_or(field, &value);
    view! {
        <TextField
            id=outcome.id(field)
            name=field.into_str()
            label=label
            kind=kind
            autocomplete=autocomplete
            nostrip:hint=hint
            value=value
            problem=outcome.problem(field)
            optional=optional
            focus=focus
            maybe_hidden=maybe_hidden
            face=face
        />
    }
}

/// A field for a code of the authenticator app.
#[component]
pub fn OneTimeCodeField(
    /// Result of the last submission.
    outcome: Outcome,
    /// Whether it is focused when the page opens.
    #[prop(optional)]
    focus: bool,
) -> impl IntoView {
    view! {
        <FormField
            outcome=outcome
            field=Field::Code
            label="Code"
            autocomplete="one-time-code"
            face=Face::Digits
            focus=focus
        />
    }
}

/// A field for a new password.
#[component]
pub fn NewPasswordField(
    /// Result of the last submission.
    outcome: Outcome,
    label: &'static str,
    /// Whether it is focused when the page opens.
    #[prop(optional)]
    focus: bool,
) -> impl IntoView {
    view! {
        <FormField
            outcome=outcome
            field=Field::Password
            label=label
            kind="password"
            autocomplete="new-password"
            hint="At least 12 characters. A phrase is easier to remember."
            focus=focus
        />
    }
}

/// Hidden field with the `token` of the page's query.
#[component]
pub fn TokenField() -> impl IntoView {
    let token = use_query_map().read_untracked().get("token").unwrap_or_default();
    view! { <input type="hidden" name="token" value=token /> }
}

/// A dialog with a form. If the form was rejected, the dialog is open and shows the error. Read-only pages have none.
#[component]
pub fn DialogForm(
    /// Result of the last submission.
    outcome: Outcome,
    /// `id` of the dialog, which its open button references.
    #[prop(into)]
    id: String,
    #[prop(into)] title: String,
    #[prop(optional)] weight: Weight,
    /// Label of the submit button.
    action: &'static str,
    /// The fields.
    children: Children,
) -> impl IntoView {
    let rank = match weight {
        Weight::Plain | Weight::Wide | Weight::Drawer => Rank::Primary,
        Weight::Danger => Rank::Destroy,
    };
    (!is_read_only()).then(|| {
        view! {
            <Dialog id=id.clone() title=title weight=weight open=outcome.error().is_some()>
                <form method="post" action=outcome.url>
                    <CsrfField />
                    <SubjectField outcome />
                    <div class="dialog__body">
                        <OutcomeErrors outcome />
                        {children()}
                    </div>
                    <div class="dialog__foot">
                        <CloseButton dialog=id>"Cancel"</CloseButton>
                        <SubmitButton rank=rank>{action}</SubmitButton>
                    </div>
                </form>
            </Dialog>
        }
    })
}

/// Returns the word for the completed action, unless a form was rejected since.
pub fn done_word() -> Option<String> {
    let rejected = use_context::<ServerActionError>().is_some();
    use_query_map().read_untracked().get("done").filter(|_| !rejected)
}

/// Shows the notice, if the page knows the word and no form was rejected since.
#[component]
pub fn Done(
    /// Returns the notice for a word.
    about: fn(&str) -> Option<&'static str>,
) -> impl IntoView {
    let words = done_word().and_then(|word| about(&word));
    words.map(|words| view! { <DoneNotice>{words}</DoneNotice> })
}
