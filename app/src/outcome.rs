//! Results of forms. A rejected form leads back to its page, whose address then contains the error.

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
        let error = error.map(|error| ServerFnUrlError::<AppError>::decode_err(error.err()));
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
