//! Assets that a request brings along, and those of its account.

use std::{fs, path::Path};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{
    origin::Origin,
    pdf,
    studio::{Studio, body, header, problems},
};

fn assets() -> Value {
    let css = BASE64_STANDARD.encode("h1::before { content: 'Sheet ' } @import url(asset:none.css);");
    let logo = BASE64_STANDARD.encode("<svg xmlns='http://www.w3.org/2000/svg'><text y='20'>Logo</text></svg>");
    json!({"brand/letter.css": css, "logo.svg": logo})
}

const PAGE: &str = "<link rel=stylesheet href=asset:brand/letter.css><h1>Title</h1><img alt=Logo src=asset:logo.svg>";

#[tokio::test]
async fn html_templates_and_headers_name_assets() {
    let studio = Studio::start().await;
    let path = studio.template("Letter", PAGE).await;
    let template = json!({"type": "template", "content": {"template_id": path.rsplit_once('/').unwrap().1}});
    for part in [Value::from(PAGE), template] {
        let answer = studio.render(part, json!({"assets": assets()})).await;
        assert_eq!(answer.status(), 200);
        assert_eq!(header(&answer, "x-pdf-conformance"), "PDF/A-2a");
        let text = pdf::text(&answer.bytes().await.unwrap());
        assert!(text.contains("Sheet Title") && text.contains("Logo"), "{text}");
    }
    let preview = json!({"format": "pdf", "options": {"assets": assets()}});
    let request = studio.request(Method::POST, &format!("{path}/preview")).json(&preview);
    let preview: Value = request.send().await.unwrap().json().await.unwrap();
    let file = preview["data"]["pdf"].as_str().expect("a document");
    let text = pdf::text(&BASE64_STANDARD.decode(file).unwrap());
    assert!(text.contains("Sheet Title"), "{text}");
    let decorated = json!({
        "assets": assets(),
        "header_template": "<img src=asset:logo.svg>",
        "render_header_footer": true,
        "margin": {"top": 20, "right": 20, "bottom": 20, "left": 20, "unit": "mm"},
    });
    let text = pdf::text(&studio.pdf("<p>x", decorated).await);
    assert!(text.contains("Logo"), "{text}");
}

#[tokio::test]
async fn a_queued_request_keeps_its_assets() {
    let studio = Studio::start().await;
    let body = json!({"parts": [PAGE], "assets": assets()});
    let id = studio.queued(&body).await;
    let ended = studio.ended(&id).await;
    let name = ended["result"]["name"].as_str().unwrap();
    let document = studio.service.client.get(studio.service.url(&format!("/files/{name}")));
    let document = document.send().await.unwrap().bytes().await.unwrap();
    let text = pdf::text(&document);
    assert!(text.contains("Sheet Title") && text.contains("Logo"), "{text}");
    assert_eq!(ended["options"]["assets"]["count"], 2);
}

#[tokio::test]
async fn the_service_loads_assets_that_a_request_names_by_url() {
    let origin = Origin::start().await;
    let studio = Studio::start_with(&[("PLATEN_EGRESS_ALLOW", &origin.authority)]).await;
    let page = "<img src=asset:logo.svg alt=''><h1>Title</h1>";
    // An asset that can't be loaded fails the render, whether the page needs it or not.
    let logo = origin.url("/redirect/302?to=/logo.svg");
    let unused = json!({"logo.svg": logo, "unused/x.svg": origin.url("/status/404")});
    let (pointer, detail) = studio.problem(page, json!({"assets": unused})).await;
    assert_eq!(pointer, "/assets/unused~1x.svg");
    assert_eq!(
        detail,
        "The file can't be loaded: the server responds with status 404 instead of 200."
    );
    let document = studio.pdf(page, json!({"assets": {"logo.svg": logo}})).await;
    assert!(pdf::text(&document).contains("Logo"));
    for (path, detail) in [
        ("/status/404", "status 404"),
        ("/text", "Must be a picture"),
        ("/loop", "redirects more than 5 times"),
        ("/large", "more than 10 MiB"),
        ("/redirect/302?to=file:///etc/passwd", "redirects to no http"),
        ("/redirect/302?to=http://127.0.0.1:9/a.png", "the address is refused"),
    ] {
        let assets = json!({"assets": {"a.png": origin.url(path)}});
        let (pointer, found) = studio.problem(page, assets).await;
        assert!(pointer == "/assets/a.png" && found.contains(detail), "{path}: {found}");
    }
    // Addresses that pages may not reach are refused.
    for address in [
        "http://127.0.0.1:9/a.png",
        "http://[::1]/a.png",
        "http://localhost/a.png",
    ] {
        let (pointer, found) = studio.problem(page, json!({"assets": {"a.png": address}})).await;
        assert!(
            pointer == "/assets/a.png" && found.contains("the address is refused"),
            "{found}"
        );
    }
    let (_, found) = studio.problem(page, json!({"assets": {"a.png": "http://"}})).await;
    assert!(found.contains("Must be a valid URL"), "{found}");

    let body = json!({"parts": [page], "assets": {"logo.svg": logo}});
    let ended = studio.ended(&studio.queued(&body).await).await;
    assert_eq!(ended["options"]["assets"], json!({"count": 1, "bytes": 0}));
    assert_eq!(ended["state"], "succeeded", "{ended}");

    let path = studio.template("Letter", page).await;
    let preview = |url: &str| json!({"format": "pdf", "options": {"assets": {"logo.svg": url}}});
    let send = |url: &str| {
        let request = studio.request(Method::POST, &format!("{path}/preview"));
        request.json(&preview(url)).send()
    };
    let shown: Value = send(&logo).await.unwrap().json().await.unwrap();
    let file = shown["data"]["pdf"].as_str().expect("a document");
    assert!(pdf::text(&BASE64_STANDARD.decode(file).unwrap()).contains("Logo"));
    let refused = problems(send(&origin.url("/status/500")).await.unwrap()).await;
    assert_eq!(refused[0].0, "/options/assets/logo.svg");
}

#[tokio::test]
async fn faults_of_assets_are_at_their_names() {
    let studio = Studio::start().await;
    let (pointer, detail) = studio.problem("<p>", json!({"assets": {"brand/x.html": "PHA+"}})).await;
    assert_eq!(pointer, "/assets/brand~1x.html");
    assert!(detail.contains("PNG") && detail.contains(".css"), "{detail}");
}

/// The files of a designer's export, in a folder of their own.
async fn upload_letterhead(studio: &Studio) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/letterhead");
    for name in ["css/letterhead.css", "images/logo.svg", "images/stripes.svg"] {
        let content = fs::read(folder.join(name)).expect("a file");
        studio.asset(&format!("letterhead/{name}"), &content).await;
    }
    let text = include_bytes!("../../../../public/fonts/ibm-plex-mono-latin-400-normal.woff2");
    studio.asset("letterhead/fonts/text.woff2", text).await;
    let title = fs::read("/usr/share/fonts/truetype/dejavu/DejaVuSerif-Bold.ttf").expect("an installed font");
    studio.asset("letterhead/fonts/title.ttf", &title).await;
}

#[tokio::test]
async fn a_designers_export_is_printed_with_its_style_sheet_fonts_and_pictures() {
    let studio = Studio::start().await;
    upload_letterhead(&studio).await;
    let template = studio
        .template("Letter", include_str!("../../letterhead/index.html"))
        .await;
    let part = json!({
        "type": "template",
        "content": {"template_id": template.rsplit_once('/').unwrap().1, "context": {"name": "Ann"}},
    });
    let answer = studio.render(part, json!({"include_backgrounds": true})).await;
    assert_eq!(header(&answer, "x-pdf-conformance"), "PDF/A-2a, PDF/UA-1");
    let render = format!("/api/v1/renders/{}", header(&answer, "x-render-id"));
    let document = answer.bytes().await.unwrap();
    let record: Value = studio
        .request(Method::GET, &render)
        .send()
        .await
        .unwrap()
        .json()
        .await
        .unwrap();
    assert_eq!(record["data"]["warnings"], json!([]));
    let text = pdf::text(&document);
    assert!(text.contains("Northwind Paper") && text.contains("Dear Ann"), "{text}");
    let fonts = pdf::fonts(&document);
    assert!(
        fonts.contains("IBMPlexMono") && fonts.contains("DejaVuSerif-Bold"),
        "{fonts}"
    );
    // The stripes at the left edge of the page.
    assert_eq!(pdf::picture(&document, 1).colour(10, 600), [0, 122, 110]);
}

#[tokio::test]
async fn a_style_sheet_declares_the_fonts_of_the_account() {
    let studio = Studio::start().await;
    let page = "<link rel=stylesheet href=asset:fonts.css><p style='font-family: \"IBM Plex Mono\"'>text";
    let fonts = async || pdf::fonts(&studio.pdf(page, json!({})).await);
    assert!(!fonts().await.contains("IBMPlexMono"));
    let font = include_bytes!("../../../../public/fonts/ibm-plex-mono-latin-400-normal.woff2");
    studio.asset("brand/text 1.woff2", font).await;
    assert!(fonts().await.contains("IBMPlexMono"));
    // An asset of this name takes its place.
    studio.asset("fonts.css", b"p { color: red }").await;
    assert!(!fonts().await.contains("IBMPlexMono"));
}

#[tokio::test]
async fn a_name_means_the_requests_asset_else_that_of_the_account_as_it_is_now() {
    let studio = Studio::start().await;
    let page = "<link rel=stylesheet href=asset:a.css><p>text";
    let sheet = |word: &str| format!("p::before {{ content: '{word} ' }}");
    let path = studio.asset("a.css", sheet("stored").as_bytes()).await;
    assert_eq!(pdf::text(&studio.pdf(page, json!({})).await).trim(), "stored text");
    let own = json!({"assets": {"a.css": BASE64_STANDARD.encode(sheet("own"))}});
    assert_eq!(pdf::text(&studio.pdf(page, own).await).trim(), "own text");
    let replacement = json!({"asset": {"content": BASE64_STANDARD.encode(sheet("replaced"))}});
    let replaced = studio
        .request(Method::PUT, &path)
        .json(&replacement)
        .send()
        .await
        .unwrap();
    assert_eq!(replaced.status(), 200);
    assert_eq!(pdf::text(&studio.pdf(page, json!({})).await).trim(), "replaced text");
    let id = studio.queued(&json!({"parts": [page]})).await;
    assert_eq!(studio.ended(&id).await["state"], "succeeded");

    let stranger = studio.service.account("bob@example.org");
    let request = studio.service.client.post(studio.service.url("/api/v1/renderers/pdf"));
    let request = request.bearer_auth(&stranger.key).json(&body(page, json!({})));
    let document = request.send().await.unwrap().bytes().await.unwrap();
    assert_eq!(pdf::text(&document).trim(), "text");
}

#[tokio::test]
async fn pictures_in_html_are_those_that_the_account_has_now() {
    let studio = Studio::start().await;
    let logo = |word: &str| format!("<svg xmlns='http://www.w3.org/2000/svg'><text y='20'>{word}</text></svg>");
    let path = studio.asset("logo.svg", logo("First").as_bytes()).await;
    let page = "<img alt='' src=asset:logo.svg>";
    // The second render knows the content.
    for _ in 0..2 {
        assert_eq!(pdf::text(&studio.pdf(page, json!({})).await).trim(), "First");
    }
    let replacement = json!({"asset": {"content": BASE64_STANDARD.encode(logo("Second"))}});
    let replaced = studio.request(Method::PUT, &path).json(&replacement).send().await;
    assert_eq!(replaced.unwrap().status(), 200);
    assert_eq!(pdf::text(&studio.pdf(page, json!({})).await).trim(), "Second");
    let deleted = studio.request(Method::DELETE, &path).send().await.unwrap();
    assert_eq!(deleted.status(), 204);
    let answer = studio.render(page, json!({})).await;
    let record = studio.recorded(header(&answer, "x-render-id")).await;
    let warnings = record["warnings"].to_string();
    assert!(warnings.contains("asset:logo.svg"), "{warnings}");
    assert_eq!(pdf::text(&answer.bytes().await.unwrap()).trim(), "");
}

#[tokio::test]
async fn a_font_that_is_not_there_is_missing_like_other_assets() {
    let studio = Studio::start().await;
    let page = "<style>@font-face { font-family: a; src: url(asset:none.woff2) }</style><p style='font-family: a'>x";
    let path = studio.template("Letter", page).await;
    let strict = json!({"settings": {"strict": true}});
    let settings = studio.request(Method::PATCH, &format!("{path}/settings")).json(&strict);
    assert_eq!(settings.send().await.unwrap().status(), 200);
    let template = json!({"type": "template", "content": {"template_id": path.rsplit_once('/').unwrap().1}});
    let answer = studio.render(template, json!({})).await;
    assert_eq!(answer.status(), 422);
    let answer: Value = answer.json().await.unwrap();
    assert!(
        answer.to_string().contains("asset:none.woff2 doesn't exist"),
        "{answer}"
    );
}

/// The browser keeps pictures of earlier pages by their addresses.
#[tokio::test]
async fn a_picture_is_never_that_of_an_earlier_render() {
    let studio = Studio::start().await;
    let picture = |colour: &str| {
        format!(
            "<svg xmlns='http://www.w3.org/2000/svg' width='99' height='99'><rect width='99' height='99' fill='{colour}'/></svg>"
        )
    };
    let page = "<style>@page { margin: 0 } body { margin: 0 }</style><img alt='' src=asset:a.svg>";
    let colour_of = async |part: Value, assets: Value| {
        let answer = studio.render(part, assets).await;
        let document = answer.bytes().await.expect("a document");
        let shown = pdf::picture(&document, 1);
        let at = 3 * (10 * shown.width + 10);
        shown.pixels[at..at + 3].to_vec()
    };
    let path = studio.template("Picture", page).await;
    let template = json!({"type": "template", "content": {"template_id": path.rsplit_once('/').unwrap().1}});
    studio.asset("a.svg", picture("#ff0000").as_bytes()).await;
    let own = json!({"assets": {"a.svg": BASE64_STANDARD.encode(picture("#0000ff"))}});
    for part in [
        Value::from(page),
        template,
        Value::from(format!("{page}<script>1</script>")),
    ] {
        for _ in 0..2 {
            assert_eq!(colour_of(part.clone(), json!({})).await, [255, 0, 0]);
            assert_eq!(colour_of(part.clone(), own.clone()).await, [0, 0, 255]);
        }
    }
}

#[tokio::test]
async fn headers_previews_and_comparisons_name_assets_of_the_account() {
    let studio = Studio::start().await;
    studio
        .asset(
            "logo.svg",
            b"<svg xmlns='http://www.w3.org/2000/svg'><text y='20'>Logo</text></svg>",
        )
        .await;
    let options = json!({
        "header_template": "<img src=asset:logo.svg>",
        "render_header_footer": true,
        "margin": {"top": 20, "right": 20, "bottom": 20, "left": 20, "unit": "mm"},
    });
    let text = pdf::text(&studio.pdf("<p>x", options).await);
    assert!(text.contains("Logo"), "{text}");
    let path = studio.template("Letter", "<img alt=Logo src=asset:logo.svg>").await;
    let request = studio.request(Method::POST, &format!("{path}/preview"));
    let preview: Value = request
        .json(&json!({"format": "pdf"}))
        .send()
        .await
        .unwrap()
        .json()
        .await
        .unwrap();
    let file = preview["data"]["pdf"].as_str().expect("a document");
    let text = pdf::text(&BASE64_STANDARD.decode(file).unwrap());
    assert!(text.contains("Logo"), "{text}");
    let request = studio.request(Method::POST, &format!("{path}/compare"));
    let compared = request.json(&json!({"content": "<p>Nothing"})).send().await.unwrap();
    let compared: Value = compared.json().await.unwrap();
    assert_eq!(compared["data"]["pages"][0]["change"], "changed", "{compared}");
}

#[tokio::test]
async fn a_document_without_an_asset_that_cannot_be_loaded_is_not_delivered() {
    let studio = Studio::start().await;
    studio.asset("a.css", b"p { color: red }").await;
    let damage = "update assets set sealed = '\\x00'::bytea || sealed";
    assert_eq!(studio.service.execute(damage).await, 1);
    let answer = studio
        .render("<link rel=stylesheet href=asset:a.css><p>x", json!({}))
        .await;
    assert_eq!(answer.status(), 500);
    let render = studio.recorded_as("failed").await;
    assert_eq!(render["error"]["code"], "internal");
    let answer = studio.render("<p>x", json!({})).await;
    assert_eq!(answer.status(), 200);
}

#[tokio::test]
async fn a_render_loads_a_bounded_number_of_bytes() {
    let studio = Studio::start().await;
    let mut table = vec![b' '; 10 << 20];
    table[0] = b'x';
    let longer_bodies = "update accounts set body_bytes = 50000000";
    assert_eq!(studio.service.execute(longer_bodies).await, 1);
    studio.asset("0.csv", &table).await;
    let copies = "insert into assets
                      (id, account_id, name, content_type, bytes, sha256, content_id, sealed, inserted_at, updated_at)
                  select gen_random_uuid(), account_id, copy || '.csv', content_type, bytes, sha256, content_id, sealed,
                      inserted_at, updated_at
                  from assets cross join generate_series(1, 6) copy";
    assert_eq!(studio.service.execute(copies).await, 6);
    let page = |count: usize| -> String {
        let images = (0..count).map(|number| format!("<img src=asset:{number}.csv alt=''>"));
        images.chain(["<p>Text".to_owned()]).collect()
    };
    assert_eq!(studio.render(page(6), json!({})).await.status(), 200);
    let (pointer, detail) = studio.problem(page(7), json!({})).await;
    assert_eq!(pointer, "/parts");
    assert!(detail.contains("more than 64 MiB"), "{detail}");
}

#[tokio::test]
async fn a_render_looks_up_a_bounded_number_of_names() {
    let studio = Studio::start().await;
    let picture = b"<svg xmlns='http://www.w3.org/2000/svg' width='20' height='20'/>";
    studio.asset("last.svg", picture).await;
    let page = |missing: usize| -> String {
        let images = (0..missing).map(|number| format!("<img src=asset:missing-{number}.svg alt=''>"));
        // The address of the last picture is that of a link which isn't loaded.
        let last = "<link rel=x href=asset:last.svg><script>
            onload = () => {
                const last = new Image();
                last.onload = last.onerror = () => {
                    document.body.replaceChildren(last.naturalWidth + ' pixels');
                    document.body.setAttribute('done', '');
                };
                last.src = document.querySelector('link').href;
            };
        </script>";
        images.chain([last.to_owned()]).collect()
    };
    let text = async |missing| {
        let options = json!({"wait_for": {"selector": "body", "attribute": "done"}});
        pdf::text(&studio.pdf(page(missing), options).await)
    };
    assert_eq!(text(999).await.trim(), "20 pixels");
    assert_eq!(text(1_000).await.trim(), "0 pixels");
}
