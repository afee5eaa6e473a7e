//! A template that is open in the dashboard's editor.

use tempfile::TempDir;

use crate::{
    support::{
        service::{TestAccount, TestService},
        studio::header,
        visitor::Visitor,
    },
    web::{service_with, site},
};

/// Name of the template.
pub(crate) const NAME: &str = "Letter <b>";

pub(crate) struct Editor {
    pub(crate) service: TestService,
    pub(crate) account: TestAccount,
    /// The account's owner.
    pub(crate) ann: Visitor,
    /// Path of the editor.
    pub(crate) path: String,
    /// The files of the dashboard, which are deleted with this.
    _site: TempDir,
}

impl Editor {
    /// Creates a template in a new account.
    pub(crate) async fn open() -> Self {
        let site = site();
        let service = service_with(site.path()).await;
        let account = service.account("ann@example.org");
        let ann = Visitor::log_in(&service, "ann@example.org").await;
        let fields = [("template_name", NAME), ("beginning", "blank")];
        let created = ann.submit("create-template", &fields).await;
        assert_eq!(created.status(), 303);
        Self {
            path: header(&created, "location").to_owned(),
            service,
            account,
            ann,
            _site: site,
        }
    }

    /// Returns the id of the template.
    pub(crate) fn id(&self) -> &str {
        self.path.rsplit('/').next().expect("an id")
    }
}
