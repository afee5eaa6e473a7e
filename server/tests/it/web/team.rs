//! The pages of an account's team.

use super::{service_with, site};
use crate::support::{service::TestService, studio::header, visitor::Visitor};

/// Creates Ann's account, of which Bob is a member in addition to his own.
async fn stage(service: &TestService) -> (String, Visitor, Visitor) {
    let account = service.account("ann@example.org").id;
    service.account("bob@example.org");
    service.join(&account, "bob@example.org", "member").await;
    let ann = Visitor::log_in(service, "ann@example.org").await;
    let bob = Visitor::log_in(service, "bob@example.org").await;
    (account, ann, bob)
}

#[tokio::test]
async fn a_form_of_the_former_account_does_nothing_in_the_chosen_one() {
    let site = site();
    let service = service_with(site.path()).await;
    let (account, ann, mut bob) = stage(&service).await;
    let renamed = [("account_name", "Ann & Sons")];
    assert_eq!(ann.submit("rename-account", &renamed).await.status(), 303);
    let page = bob.page("/dashboard").await;
    assert!(
        page.contains("Your accounts") && page.contains("Ann &amp; Sons"),
        "{page}"
    );
    let own = bob.page("/dashboard/api-keys").await;
    assert!(own.contains("New key"), "{own}");
    let former = bob.token().await;
    bob.switch_to(&account).await;
    let page = bob.page("/dashboard/team").await;
    assert!(page.contains("bob@example.org") && !page.contains("Invite"), "{page}");
    // A page that was opened before.
    let refused = bob
        .submit_with(&former, "create-template", &[("template_name", "Mine")])
        .await;
    assert_eq!(refused.status(), 403);
    assert_eq!(
        service
            .number("select count(*) from templates where name = 'Mine'")
            .await,
        0
    );
    let foreign = bob
        .submit("switch-account", &[("subject", &uuid::Uuid::nil().to_string())])
        .await;
    assert!(!header(&foreign, "location").ends_with("/dashboard"), "{foreign:?}");
}

#[tokio::test]
async fn a_removed_member_is_told_so_and_continues_in_another_account() {
    let site = site();
    let service = service_with(site.path()).await;
    let (account, ann, mut bob) = stage(&service).await;
    bob.switch_to(&account).await;
    let token = bob.token().await;
    let id = service
        .text("select id::text from users where email = 'bob@example.org'")
        .await;
    let answer = ann.submit("remove-member", &[("subject", &id)]).await;
    assert_eq!(header(&answer, "location"), "/dashboard/team?done=removed");
    let refused = bob.get("/dashboard/templates").await;
    assert_eq!(refused.status(), 403);
    let page = refused.text().await.expect("a page");
    assert!(
        page.contains("You are no longer a member of this account") && page.contains("bob@example.org"),
        "{page}"
    );
    // A form for this account has no effect in another one.
    let made = [("template_name", "Mine"), ("beginning", "blank")];
    assert_eq!(bob.submit_with(&token, "create-template", &made).await.status(), 302);
    assert_eq!(
        service
            .number("select count(*) from templates where name = 'Mine'")
            .await,
        0
    );
    let own = format!("select account_id::text from members where role = 'owner' and user_id = '{id}'");
    let own = service.text(&own).await;
    let answer = bob.submit_with(&token, "switch-account", &[("subject", &own)]).await;
    assert_eq!(header(&answer, "location"), "/dashboard");
    bob.remember(&answer);
    bob.page("/dashboard/templates").await;
}

#[tokio::test]
async fn what_people_write_stays_text_in_the_log_and_in_its_file() {
    let site = site();
    let service = service_with(site.path()).await;
    let (_, ann, _) = stage(&service).await;
    let hostile = "<script>alert(1)</script>";
    ann.submit("rename-account", &[("account_name", hostile)]).await;
    let key = |name| {
        let rest = [
            ("key_mode", "test"),
            ("scopes[0]", "render"),
            ("expiry", "never"),
            ("expiry_day", ""),
            ("networks", ""),
        ];
        [("key_name", name)].into_iter().chain(rest).collect::<Vec<_>>()
    };
    let answer = ann.submit("create-key", &key("=cmd, \"x\"")).await;
    assert!(header(&answer, "location").starts_with("/dashboard/api-keys?done=created&new="));
    for path in ["/dashboard/team/log", "/dashboard/team"] {
        let page = ann.page(path).await;
        assert!(!page.contains(hostile) && page.contains("&lt;script&gt;"), "{page}");
    }
    let page = ann.page("/dashboard/team/log?about=key").await;
    assert!(
        page.contains("created the API key =cmd") && !page.contains("renamed the account to"),
        "{page}"
    );
    let file = ann.get("/dashboard/team/log.csv?about=account").await;
    assert_eq!(header(&file, "content-type"), "text/csv; charset=utf-8");
    let file = file.text().await.expect("a file");
    let lines: Vec<_> = file.split("\r\n").collect();
    assert_eq!(
        lines[0],
        "\"time\",\"actor\",\"name\",\"address\",\"device\",\"kind\",\"what\""
    );
    let expected = ",\"person\",\"ann@example.org\",\"127.0.0.1\",\"Unknown device\",\"account.renamed\",\"renamed the account to <script>alert(1)</script>\"";
    assert!(lines[1].ends_with(expected), "{file}");
    assert_eq!(lines.len(), 3, "{file}");
    // The complete log, in more than one chunk.
    service
        .execute(
            "insert into account_log (id, account_id, happened_at, actor, actor_name, deed)
             select gen_random_uuid(), account_id, now(), 'operator', '@sum', '{\"kind\": \"plan.changed\"}'
             from members, generate_series(1, 2500) where role = 'owner'",
        )
        .await;
    let whole = ann.get("/dashboard/team/log.csv").await.text().await.expect("a file");
    assert_eq!(
        whole.matches("\"plan.changed\",\"plan.changed\"").count(),
        2500,
        "of a release that knows more"
    );
    assert_eq!(whole.matches("\"'@sum\"").count(), 2500);
    let page = ann.page("/dashboard/team/log").await;
    assert!(
        page.contains("An operator of this service") && page.contains("Older"),
        "{page}"
    );
}
