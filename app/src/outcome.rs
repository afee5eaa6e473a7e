//! What became of a form. A form that is refused leads back to its page, whose address then says why.

pub mod dialog;
pub mod done;
pub mod field;
pub mod form;
pub mod token_field;

use leptos::{
    prelude::*,
    server::ServerActionError,
    server_fn::{ServerFn, error::ServerFnUrlError},
};

use crate::{
    error::AppError,
    model::rejection::{Field, Rejection},
};

/// The last answer to the form that calls a function.
#[derive(Clone, Copy)]
pub struct Outcome {
    /// Where the form is sent.
    url: &'static str,
    /// What the form is about, where the page has such a form for each of several things.
    subject: StoredValue<Option<String>>,
    error: StoredValue<Option<AppError>>,
}

impl Outcome {
    /// Reads it from the address of the page.
    pub fn of<F: ServerFn<Error = AppError>>() -> Self {
        Self::new::<F>(None, |_| true)
    }

    /// As [`Self::of`], for the one of several forms of a page that is about the thing with this id. The function says
    /// which one it was by [`Field::Subject`] among what was typed.
    pub fn about<F: ServerFn<Error = AppError>>(subject: &str) -> Self {
        Self::new::<F>(Some(subject.to_owned()), |error| error.subject() == Some(subject))
    }

    /// What none of the forms shows that are [`Self::about`] something: for the page's head.
    pub fn about_nothing<F: ServerFn<Error = AppError>>() -> Self {
        Self::new::<F>(None, |error| error.subject().is_none())
    }

    fn new<F: ServerFn<Error = AppError>>(subject: Option<String>, concerns: impl Fn(&AppError) -> bool) -> Self {
        let error = use_context::<ServerActionError>().filter(|error| error.path() == F::PATH);
        let error = error.map(|error| ServerFnUrlError::<AppError>::decode_err(error.err()));
        Self {
            url: F::url(),
            subject: StoredValue::new(subject),
            error: StoredValue::new(error.filter(concerns)),
        }
    }

    /// The `id` of a field of the form. A page may have several forms about one thing, with fields of the same name.
    pub fn id(self, field: Field) -> String {
        let function = self.url.rsplit('/').next().unwrap_or_default();
        self.subject.with_value(|subject| match subject {
            Some(subject) => format!("{function}-{}-{subject}", field.name()),
            None => field.name().to_owned(),
        })
    }

    /// What is wrong with the form.
    pub fn error(self) -> Option<AppError> {
        self.error.get_value()
    }

    /// What is wrong with one field.
    pub fn fault(self, field: Field) -> Option<&'static str> {
        let faulty = self.rejection(|rejection| rejection.faulty().contains(&field));
        faulty.unwrap_or_default().then(|| field.rule())
    }

    /// What was typed into a field.
    pub fn typed(self, field: Field) -> String {
        self.typed_or(field, "")
    }

    /// What was typed into a field; `first`: the form was not refused, and this is what the field begins with.
    pub fn typed_or(self, field: Field, first: &str) -> String {
        let typed = self.rejection(|rejection| rejection.typed(field).map(str::to_owned));
        typed.flatten().unwrap_or_else(|| first.to_owned())
    }

    fn rejection<T>(self, read: impl FnOnce(&Rejection) -> T) -> Option<T> {
        self.error.with_value(|error| match error {
            Some(AppError::Rejected(rejection)) => Some(read(rejection)),
            _ => None,
        })
    }
}
