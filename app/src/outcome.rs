//! What became of a form: with the app in the browser, and without it from the address of the page.

pub mod field;

use leptos::{prelude::*, server_fn::ServerFn};

use crate::{
    error::AppError,
    model::rejection::{Field, Rejection},
    ui::form_errors::Complaint,
};

/// The last answer to a form that leads to another page.
#[derive(Clone, Copy)]
pub struct Outcome {
    error: Signal<Option<AppError>>,
    /// Whether the answer is awaited.
    pub pending: Signal<bool>,
}

impl Outcome {
    /// Follows an action whose function answers where to go. The next page is loaded anew: its session may be another one.
    pub fn of<F>(action: ServerAction<F>) -> Self
    where
        F: ServerFn<Output = String, Error = AppError> + Clone + Send + Sync + 'static,
    {
        let value = action.value();
        Effect::new(move || {
            if let Some(Ok(path)) = value.get() {
                let _ = window().location().set_href(&path);
            }
        });
        let leaving = move || value.with(|value| matches!(value, Some(Ok(_))));
        Self {
            error: Signal::derive(move || value.get()?.err()),
            pending: Signal::derive(move || action.pending().get() || leaving()),
        }
    }

    /// What is wrong with the form.
    pub fn complaint(self) -> Signal<Option<Complaint>> {
        Signal::derive(move || {
            let error = self.error.get()?;
            let faulty = match &error {
                AppError::Rejected(rejection) => rejection.faulty(),
                _ => &[],
            };
            Some(Complaint {
                title: error.to_string(),
                fields: faulty.iter().map(|field| (field.name(), field.rule())).collect(),
            })
        })
    }

    /// What is wrong with one field.
    pub fn fault(self, field: Field) -> Signal<Option<&'static str>> {
        Signal::derive(move || {
            let faulty = self.rejection(|rejection| rejection.faulty().contains(&field));
            faulty.unwrap_or_default().then(|| field.rule())
        })
    }

    /// What was typed into a field before the page was loaded.
    pub fn typed(self, field: Field) -> String {
        let typed = untrack(|| {
            self.rejection(|rejection| {
                let mut typed = rejection.typed.iter();
                typed.find(|(name, _)| *name == field).map(|(_, typed)| typed.clone())
            })
        });
        typed.flatten().unwrap_or_default()
    }

    fn rejection<T>(self, read: impl FnOnce(&Rejection) -> T) -> Option<T> {
        self.error.with(|error| match error {
            Some(AppError::Rejected(rejection)) => Some(read(rejection)),
            _ => None,
        })
    }
}
