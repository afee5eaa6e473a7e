//! What became of a form. A form that is refused leads back to its page, whose address then says why.

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
    error: StoredValue<Option<AppError>>,
}

impl Outcome {
    /// Reads it from the address of the page.
    pub fn of<F: ServerFn<Error = AppError>>() -> Self {
        let error = use_context::<ServerActionError>().filter(|error| error.path() == F::PATH);
        Self {
            url: F::url(),
            error: StoredValue::new(error.map(|error| ServerFnUrlError::<AppError>::decode_err(error.err()))),
        }
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
        let typed = self.rejection(|rejection| {
            let mut typed = rejection.typed.iter();
            typed.find(|(name, _)| *name == field).map(|(_, typed)| typed.clone())
        });
        typed.flatten().unwrap_or_default()
    }

    fn rejection<T>(self, read: impl FnOnce(&Rejection) -> T) -> Option<T> {
        self.error.with_value(|error| match error {
            Some(AppError::Rejected(rejection)) => Some(read(rejection)),
            _ => None,
        })
    }
}
