//! Uploads of assets, and their page.

use reqwest::Response;

use super::site;
use crate::support::{
    service::TestService,
    studio::{Studio, header},
    visitor::Visitor,
};

const PAGE: &str = "/dashboard/assets";
const UPLOAD: &str = "/dashboard/assets/upload";
const BOUNDARY: &str = "----of-this-form";
const SVG: &[u8] = b"<svg xmlns='http://www.w3.org/2000/svg'><path d='M0 0h9'/></svg>";
const SCRIPT: &[u8] = b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>";
const FONT: &[u8] = include_bytes!("../../../../public/fonts/ibm-plex-mono-latin-600-normal.woff2");

async fn studio() -> (tempfile::TempDir, Studio, Visitor) {
    let site = site();
    let folder = site.path().to_str().expect("text").to_owned();
    let studio = Studio::start_with(&[("PLATEN_SITE_DIR", &folder)]).await;
    let visitor = Visitor::log_in(&studio.service, "ann@example.org").await;
    (site, studio, visitor)
}

/// Returns a form with a folder and files, as a browser encodes it (RFC 7578).
fn form(folder: &str, files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut form = Vec::new();
    for (name, content) in files {
        form.extend(
            format!("--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"files\"; filename=\"{name}\"\r\n\r\n")
                .bytes(),
        );
        form.extend_from_slice(content);
        form.extend(b"\r\n");
    }
    let folder = format!("Content-Disposition: form-data; name=\"folder\"\r\n\r\n{folder}\r\n--{BOUNDARY}--\r\n");
    form.extend(format!("--{BOUNDARY}\r\n{folder}").bytes());
    form
}

/// Submits a form with files to this path.
async fn submit(visitor: &Visitor, path: &str, form: Vec<u8>) -> Response {
    let media_type = format!("multipart/form-data; boundary={BOUNDARY}");
    visitor.post_body(path, &media_type, form).await
}

async fn upload(visitor: &Visitor, folder: &str, files: &[(&str, &[u8])]) -> Response {
    let path = format!("{UPLOAD}?csrf={}", visitor.token().await);
    submit(visitor, &path, form(folder, files)).await
}

async fn names(service: &TestService) -> String {
    let names = "select coalesce(string_agg(name || ' ' || bytes, ', ' order by name), '') from assets";
    service.text(names).await
}

#[tokio::test]
async fn files_become_assets_and_others_are_left_out_with_the_reason() {
    let (_site, studio, visitor) = studio().await;
    let files: &[(&str, &[u8])] = &[
        ("letter/css/a.css", b"p { color: red }"),
        ("letter/logo.svg", SVG),
        ("letter/index.html", b"<p>"),
        ("letter/a?.css", b""),
        ("letter/script.svg", SCRIPT),
        // A field without a file.
        ("", b""),
    ];
    let answer = upload(&visitor, "/brand/", files).await;
    assert_eq!((answer.status().as_u16(), header(&answer, "location")), (303, PAGE));
    assert_eq!(
        names(&studio.service).await,
        "brand/letter/css/a.css 16, brand/letter/logo.svg 64"
    );
    let page = visitor.page(PAGE).await;
    for text in [
        "2 files uploaded. Left out: 3",
        "brand/letter/script.svg",
        "line 1 contains the element script",
        "brand/letter/index.html",
        "must be a picture",
        "brand/letter/a?.css",
        "2 assets",
        "image/svg+xml",
    ] {
        assert!(page.to_lowercase().contains(&text.to_lowercase()), "{text}: {page}");
    }
    assert!(
        !visitor.page(PAGE).await.contains("files uploaded"),
        "a report is shown once"
    );

    let answer = upload(&visitor, "", &[("brand/letter/css/a.css", b"p {}")]).await;
    assert_eq!(answer.status(), 303);
    assert_eq!(
        names(&studio.service).await,
        "brand/letter/css/a.css 4, brand/letter/logo.svg 64"
    );
    assert!(visitor.page(PAGE).await.contains("1 file uploaded."));
    let log =
        "select string_agg(deed ->> 'kind', ', ' order by id) from account_log where deed ->> 'kind' like 'asset.%'";
    assert_eq!(
        studio.service.text(log).await,
        "asset.created, asset.created, asset.replaced"
    );

    upload(&visitor, "", &[("", b"")]).await;
    assert!(visitor.page(PAGE).await.contains("choose files or a folder"));
    let many: Vec<_> = (0..502).map(|number| format!("many/{number}.css")).collect();
    let many: Vec<_> = many.iter().map(|name| (name.as_str(), &b"p {}"[..])).collect();
    assert_eq!(upload(&visitor, "", &many).await.status(), 303);
    let page = visitor.page(PAGE).await;
    assert!(
        page.contains("500 files uploaded. Left out: 2") && page.contains("many/501.css"),
        "{page}"
    );

    let found = visitor.page("/dashboard/assets?q=LOGO").await;
    assert!(
        found.contains("brand/letter/logo.svg") && !found.contains("a.css"),
        "{found}"
    );
    studio.service.storage_is_counted().await;
}

#[tokio::test]
async fn pictures_are_shown_to_members_in_a_sandbox() {
    let (_site, studio, visitor) = studio().await;
    let logo = studio.asset("logo.svg", SVG).await;
    let style_sheet = studio.asset("a.css", b"p {}").await;
    let path = |of: &str| format!("{PAGE}/{}/picture", of.rsplit('/').next().expect("an id"));
    let answer = visitor.get(&path(&logo)).await;
    assert_eq!(header(&answer, "content-type"), "image/svg+xml");
    assert_eq!(header(&answer, "x-content-type-options"), "nosniff");
    let policy = header(&answer, "content-security-policy");
    assert!(
        policy.contains("default-src 'none'") && policy.contains("sandbox"),
        "{policy}"
    );
    let tag = header(&answer, "etag").to_owned();
    assert_eq!(answer.bytes().await.expect("a body"), SVG);
    let known = visitor.get_with(&path(&logo), &[("if-none-match", &tag)]).await;
    assert_eq!(known.status(), 304);
    assert_eq!(visitor.get(&path(&style_sheet)).await.status(), 404);
    studio.service.account("bob@example.org");
    let stranger = Visitor::log_in(&studio.service, "bob@example.org").await;
    assert_eq!(stranger.get(&path(&logo)).await.status(), 404);
}

#[tokio::test]
async fn the_page_of_an_asset_tags_downloads_and_replaces_it() {
    let (_site, studio, visitor) = studio().await;
    let asset = studio.asset("brand/logo.svg", SVG).await;
    let (_, id) = asset.rsplit_once('/').expect("an id");
    studio.asset("a.css", b"p {}").await;
    let path = format!("{PAGE}/{id}");
    let saved = visitor
        .submit("set-asset-tags", &[("id", id), ("tags", "logo, R&D 50%")])
        .await;
    assert_eq!(header(&saved, "location"), format!("{path}?done=saved"));
    let page = visitor.page(&path).await;
    for text in [
        "R&amp;D 50%",
        "value=\"R&amp;D 50%, logo\"",
        "&lt;base href=\"asset:brand/\"&gt;",
    ] {
        assert!(page.contains(text), "{text}: {page}");
    }
    // The tag leads to the assets that have it.
    let link = "/dashboard/assets?tag=R%26D%2050%2525";
    assert!(page.contains(link), "{page}");
    let found = visitor.page(link).await;
    assert!(found.contains("brand/logo.svg") && !found.contains("a.css"), "{found}");
    let found = visitor.page(&format!("{PAGE}?tag=logo")).await;
    assert!(found.contains("brand/logo.svg") && !found.contains("a.css"), "{found}");
    let many = (0..11).map(|tag| tag.to_string()).collect::<Vec<_>>().join(",");
    let refused = visitor.submit("set-asset-tags", &[("id", id), ("tags", &many)]).await;
    let (_, error) = header(&refused, "location").split_once('?').expect("an error");
    let answer = visitor.get(&format!("{path}?{error}")).await;
    let again = answer.text().await.expect("a page");
    assert!(again.contains("Enter up to 10 tags"), "{again}");

    let file = visitor.get(&format!("{path}/content")).await;
    assert_eq!(header(&file, "content-disposition"), "attachment");
    assert_eq!(file.bytes().await.expect("a body"), SVG);

    let mut replacement =
        format!("--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"replaced\"\r\n\r\nbrand/logo.svg\r\n");
    replacement += &String::from_utf8(form(
        "",
        &[("new logo.svg", b"<svg xmlns='http://www.w3.org/2000/svg'/>")],
    ))
    .expect("text");
    let upload = format!("{UPLOAD}?csrf={}", visitor.token().await);
    assert_eq!(submit(&visitor, &upload, replacement.into_bytes()).await.status(), 303);
    assert_eq!(names(&studio.service).await, "a.css 4, brand/logo.svg 41");
    let tags = "select array_to_string(tags, ',') from assets where name = 'brand/logo.svg'";
    assert_eq!(studio.service.text(tags).await, "R&D 50%,logo");
}

#[tokio::test]
async fn fonts_are_shown_by_family_with_specimens() {
    let (_site, studio, visitor) = studio().await;
    assert!(visitor.page("/dashboard/fonts").await.contains("No fonts yet"));
    studio.asset("a.css", b"p {}").await;
    let font = studio.asset("brand/text.woff2", FONT).await;
    let (_, id) = font.rsplit_once('/').expect("an id");
    let page = visitor.page("/dashboard/fonts?text=Gr%C3%B6%C3%9Fe").await;
    for text in [
        "IBM Plex Mono",
        "SemiBold, 600",
        "Größe",
        "Latin ",
        "brand/text.woff2",
        "asset:fonts.css",
        &format!("specimen-{id}-600"),
    ] {
        assert!(page.contains(text), "{text}: {page}");
    }
    let sheet = visitor.page("/dashboard/fonts.css?q=plex").await;
    let source = format!("/dashboard/assets/{id}/font");
    assert!(sheet.contains(&format!("src: url(\"{source}\")")), "{sheet}");
    assert!(
        !visitor
            .page("/dashboard/fonts.css?q=serif")
            .await
            .contains("@font-face")
    );
    assert!(
        visitor
            .page("/dashboard/fonts?q=serif")
            .await
            .contains("No font has this")
    );
    let file = visitor.get(&source).await;
    assert_eq!(header(&file, "content-type"), "font/woff2");
    assert_eq!(file.bytes().await.expect("a body"), FONT);
    assert_eq!(visitor.get(&source.replace("/font", "/picture")).await.status(), 404);

    // A font whose licence forbids embedding.
    let restricted = "update assets set properties = jsonb_set(properties, '{font,embedding}', '\"restricted\"')
                      where name like '%.woff2'";
    assert_eq!(studio.service.execute(restricted).await, 1);
    for path in ["/dashboard/fonts".to_owned(), format!("{PAGE}/{id}")] {
        assert!(
            visitor.page(&path).await.contains("forbids documents to contain it"),
            "{path}"
        );
    }
    studio.service.account("bob@example.org");
    let stranger = Visitor::log_in(&studio.service, "bob@example.org").await;
    assert_eq!(stranger.get(&source).await.status(), 404);
    assert!(!stranger.page("/dashboard/fonts.css").await.contains("@font-face"));
}

#[tokio::test]
async fn uploads_that_are_forged_too_large_or_beyond_the_storage_store_nothing() {
    let (_site, studio, visitor) = studio().await;
    let file: &[(&str, &[u8])] = &[("a.css", b"p {}")];
    for query in ["", "?csrf=forged"] {
        let answer = submit(&visitor, &format!("{UPLOAD}{query}"), form("", file)).await;
        assert_eq!(answer.status(), 403, "{query}");
    }
    let large = vec![b'x'; 33 << 20];
    let answer = upload(&visitor, "", &[("a.css", &large)]).await;
    assert_eq!(answer.status(), 413);
    studio.service.limit_storage(&studio.account, "assets", 1).await;
    let answer = upload(&visitor, "", &[("a.css", b"p {}"), ("b.css", b"p {}")]).await;
    assert_eq!(answer.status(), 303);
    let page = visitor.page(PAGE).await;
    assert!(
        page.contains("Nothing was uploaded.") && page.contains("Assets are limited to 1"),
        "{page}"
    );
    upload(&visitor, "a/../b", &[("a.css", b"p {}")]).await;
    let page = visitor.page(PAGE).await;
    assert!(
        page.contains("Left out: 1") && page.contains("relative paths"),
        "{page}"
    );
    assert_eq!(names(&studio.service).await, "");
    let suspend = format!(
        "update accounts set suspended_at = now() where id = '{}'",
        studio.account.id
    );
    assert_eq!(studio.service.execute(&suspend).await, 1);
    assert_eq!(upload(&visitor, "", file).await.status(), 403);
    assert_eq!(names(&studio.service).await, "");
}

#[tokio::test]
async fn templates_that_use_an_asset_are_named_before_it_is_deleted() {
    let (_site, studio, visitor) = studio().await;
    upload(&visitor, "", &[("logo.svg", SVG), ("unused.svg", SVG)]).await;
    upload(
        &visitor,
        "",
        &[("logo.svg", b"<svg xmlns='http://www.w3.org/2000/svg'/>")],
    )
    .await;
    let content = "<img src='asset:logo.svg' alt=''>";
    let template = studio.template("Letter <b>", content).await;
    let (_, id) = template.rsplit_once('/').expect("an id");
    let list = visitor.page(PAGE).await;
    for sentence in ["Used by “Letter &lt;b&gt;”.", "No published template names it;"] {
        assert_eq!(list.matches(sentence).count(), 1, "{sentence}: {list}");
    }
    let asset = studio
        .service
        .text("select id::text from assets where name = 'logo.svg'")
        .await;
    let page = visitor.page(&format!("{PAGE}/{asset}")).await;
    let editor = format!("<a href=\"/dashboard/templates/{id}\">Letter &lt;b&gt;</a>");
    assert!(page.contains(&editor) && page.contains("Replaced: 64 B"), "{page}");
    let deleted = visitor.submit("delete-asset", &[("id", &asset)]).await;
    assert_eq!(header(&deleted, "location"), format!("{PAGE}?done=deleted"));
    let unknown = visitor.get(&format!("{PAGE}/{}", uuid::Uuid::now_v7())).await;
    assert_eq!(unknown.status(), 404);
}
