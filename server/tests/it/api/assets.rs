//! `/api/v1/assets`

use base64::{Engine as _, prelude::BASE64_STANDARD};
use data_encoding::HEXLOWER;
use reqwest::{Method, Response};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::support::studio::{Studio, header, problems};

const PATH: &str = "/api/v1/assets";
const GIF: &[u8] = b"GIF89a\x01\0\x01\0\x80\0\0\0\0\0\xff\xff\xff,\0\0\0\0\x01\0\x01\0\0\x02\x02D\x01\0;";
const FONT: &[u8] = include_bytes!("../../../../public/fonts/archivo-latin-wdth-normal.woff2");

async fn json_of(answer: Response) -> Value {
    answer.json().await.expect("JSON")
}

async fn get(studio: &Studio, path: &str) -> Response {
    studio.request(Method::GET, path).send().await.expect("an answer")
}

fn replacement(content: &[u8]) -> Value {
    json!({"asset": {"content": BASE64_STANDARD.encode(content)}})
}

#[tokio::test]
async fn an_asset_is_created_read_replaced_and_deleted() {
    let studio = Studio::start().await;
    let style_sheet = studio.asset("brand/letter.css", b"p { color: red }").await;
    let logo = studio.asset("brand/logo.gif", GIF).await;
    let listed = json_of(get(&studio, PATH).await).await;
    let names: Vec<_> = listed["data"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|asset| &asset["name"])
        .collect();
    assert_eq!(names, ["brand/logo.gif", "brand/letter.css"]);
    let page = get(&studio, "/api/v1/assets?page_size=1").await;
    assert!(header(&page, "link").contains("cursor="));

    let created = json_of(get(&studio, &style_sheet).await).await["data"].take();
    assert_eq!(created["content_type"], "text/css; charset=utf-8");
    assert_eq!(created["bytes"], 16);
    assert_eq!(created["sha256"], HEXLOWER.encode(&Sha256::digest("p { color: red }")));
    let file = get(&studio, &format!("{logo}/content")).await;
    assert_eq!(header(&file, "content-disposition"), "attachment");
    assert_eq!(file.bytes().await.unwrap(), GIF);

    let replace = studio
        .request(Method::PUT, &style_sheet)
        .json(&replacement(b"p { color: blue }"));
    let replaced = json_of(replace.send().await.unwrap()).await["data"].take();
    assert_eq!((&replaced["name"], &replaced["bytes"]), (&created["name"], &json!(17)));
    assert_eq!(replaced["inserted_at"], created["inserted_at"]);
    assert_ne!(replaced["sha256"], created["sha256"]);
    let former = json!({"bytes": 16, "sha256": created["sha256"], "updated_at": created["updated_at"]});
    assert_eq!((&created["replaced"], &replaced["replaced"]), (&Value::Null, &former));
    // The same content again replaces nothing.
    let replace = studio
        .request(Method::PUT, &style_sheet)
        .json(&replacement(b"p { color: blue }"));
    for answer in [replace.send().await.unwrap(), get(&studio, &style_sheet).await] {
        assert_eq!(json_of(answer).await["data"]["replaced"], former);
    }
    let file = get(&studio, &format!("{style_sheet}/content")).await;
    assert_eq!(file.text().await.unwrap(), "p { color: blue }");

    let deleted = studio.request(Method::DELETE, &style_sheet).send().await.unwrap();
    assert_eq!(deleted.status(), 204);
    for path in [style_sheet.clone(), format!("{style_sheet}/content")] {
        assert_eq!(get(&studio, &path).await.status(), 404);
    }
    let log = "select string_agg(deed ->> 'kind' || ' ' || (deed ->> 'name'), ', ' order by id) from account_log
               where deed ->> 'kind' like 'asset.%'";
    assert_eq!(
        studio.service.text(log).await,
        "asset.created brand/letter.css, asset.created brand/logo.gif, asset.replaced brand/letter.css, \
         asset.replaced brand/letter.css, asset.deleted brand/letter.css"
    );
    studio.service.storage_is_counted().await;
}

#[tokio::test]
async fn tags_find_assets() {
    let studio = Studio::start().await;
    let content = BASE64_STANDARD.encode(GIF);
    let asset = json!({"name": "logo.gif", "content": content, "tags": [" brand", "2026 & later", "brand"]});
    let request = studio.request(Method::POST, PATH).json(&json!({"asset": asset}));
    let logo = json_of(request.send().await.unwrap()).await["data"].take();
    assert_eq!(logo["tags"], json!(["2026 & later", "brand"]));
    let path = format!("{PATH}/{}", logo["id"].as_str().expect("an id"));
    let other = studio.asset("other.gif", GIF).await;

    let change = |path: &str, asset: Value| studio.request(Method::PUT, path).json(&json!({"asset": asset})).send();
    let answer = json_of(change(&other, json!({"tags": ["brand"]})).await.unwrap()).await;
    assert_eq!(
        (&answer["data"]["tags"], &answer["data"]["bytes"]),
        (&json!(["brand"]), &json!(GIF.len()))
    );
    // New content keeps the tags.
    change(&other, json!({"content": content})).await.unwrap();
    for (query, names) in [
        ("tag=brand", &["other.gif", "logo.gif"][..]),
        ("tag=+2026+%26+later", &["logo.gif"]),
        ("tag=Brand", &[]),
        ("", &["other.gif", "logo.gif"]),
    ] {
        let listed = json_of(get(&studio, &format!("{PATH}?{query}")).await).await;
        let listed = listed["data"].as_array().expect("a list").iter();
        assert_eq!(listed.map(|asset| &asset["name"]).collect::<Vec<_>>(), names, "{query}");
    }
    let page = get(&studio, &format!("{PATH}?tag=brand&page_size=1")).await;
    assert!(header(&page, "link").contains("tag=brand"));
    change(&path, json!({"tags": []})).await.unwrap();
    assert_eq!(json_of(get(&studio, &path).await).await["data"]["tags"], json!([]));

    let many: Vec<_> = (0..11).map(|tag| tag.to_string()).collect();
    for (asset, pointer, detail) in [
        (json!({"tags": many}), "/asset/tags", "at most 10 tags; got 11"),
        (json!({"tags": ["a,b"]}), "/asset/tags", "without commas"),
        (json!({"tags": [1]}), "/asset/tags/0", "string"),
        (json!({}), "/asset", "less than 1 property"),
    ] {
        let [(at, said)] = problems(change(&path, asset).await.unwrap())
            .await
            .try_into()
            .expect("one");
        assert!(at == pointer && said.contains(detail), "{at}: {said}");
    }
    let [(at, _)] = problems(get(&studio, &format!("{PATH}?tag=%00")).await)
        .await
        .try_into()
        .expect("one");
    assert_eq!(at, "/tag");
}

/// Returns the names of the templates that use an asset.
async fn users(studio: &Studio, asset: &str) -> Vec<String> {
    let found = json_of(get(studio, asset).await).await;
    let users = found["data"]["used_by"].as_array().expect("a list").iter();
    let name = |user: &Value| user["name"].as_str().expect("text").to_owned();
    users.map(name).collect()
}

#[tokio::test]
async fn the_templates_that_use_an_asset_are_listed() {
    let mut studio = Studio::start().await;
    let logo = studio.asset("brand/logo 1.gif", GIF).await;
    let unused = studio.asset("logo 1.gif", GIF).await;
    let none: [&str; 0] = [];
    studio
        .template("Mention", "<p>asset:brand/logo 1.gif <a href='asset:brand/logo 1.gif'>")
        .await;
    assert_eq!(users(&studio, &logo).await, none);
    let invoice = studio
        .template(
            "Invoice",
            "<p style=\"background: url('asset:brand/logo%201.gif')\">{{ name }}",
        )
        .await;
    let page = studio
        .template("a page", "<base href='asset:brand/'><img src='logo 1.gif' alt=''>")
        .await;
    let partial = studio
        .partial("head", "<img src='asset:brand/logo 1.gif' alt=''>")
        .await;
    let letter = studio.template("Letter", "{% include 'head' %}").await;
    assert_eq!(users(&studio, &logo).await, ["a page", "head", "Invoice", "Letter"]);
    assert_eq!(users(&studio, &unused).await, none);
    let font = studio.asset("text.woff2", FONT).await;
    assert_eq!(users(&studio, &font).await, none);
    let sheet = studio
        .template("Sheet", "<link rel=stylesheet href='asset:fonts.css'>")
        .await;
    assert_eq!(users(&studio, &font).await, ["Sheet"]);
    let deleted = studio.request(Method::DELETE, &sheet).send().await.unwrap();
    assert_eq!(deleted.status(), 204);
    // The letter prints the former version of the partial.
    studio.change_template(&partial, json!({"content": "<p>"})).await;
    assert_eq!(users(&studio, &logo).await, ["a page", "Invoice", "Letter"]);
    studio.change_template(&letter, json!({"name": "Letter"})).await;
    studio
        .change_template(&page, json!({"content": "<base href='asset:bran'>"}))
        .await;
    assert_eq!(users(&studio, &logo).await, ["Invoice"]);

    let (_, id) = page.rsplit_once('/').expect("an id");
    let create = studio
        .service
        .create_key("ann@example.org", "n", &["--allow-template", id]);
    let key = std::mem::replace(&mut studio.account.key, create.succeeded());
    assert_eq!(users(&studio, &logo).await, none);
    let create = studio
        .service
        .create_key("ann@example.org", "m", &["--scope", "assets:read"]);
    studio.account.key = create.succeeded();
    assert_eq!(json_of(get(&studio, &logo).await).await["data"]["used_by"], Value::Null);
    studio.account.key = key;
    let deleted = studio.request(Method::DELETE, &invoice).send().await.unwrap();
    assert_eq!(deleted.status(), 204);
    assert_eq!(users(&studio, &logo).await, none);
}

#[tokio::test]
async fn content_is_stored_encrypted() {
    let studio = Studio::start().await;
    studio.asset("logo.gif", GIF).await;
    let plain = "select count(*) from assets where position('GIF89a'::bytea in sealed) > 0";
    assert_eq!(studio.service.number(plain).await, 0);
    // Content of one row can't be decrypted in another.
    let path = studio.asset("other.gif", GIF).await;
    let swap =
        "update assets set sealed = (select sealed from assets where name = 'logo.gif') where name = 'other.gif'";
    assert_eq!(studio.service.execute(swap).await, 1);
    assert_eq!(get(&studio, &format!("{path}/content")).await.status(), 500);
}

#[tokio::test]
async fn faults_are_named_with_what_is_allowed() {
    let studio = Studio::start().await;
    let logo = studio.asset("logo.gif", GIF).await;
    let gif = BASE64_STANDARD.encode(GIF);
    let large = BASE64_STANDARD.encode([GIF, &vec![0; 10 << 20]].concat());
    let longer_bodies = "update accounts set body_bytes = 50000000";
    assert_eq!(studio.service.execute(longer_bodies).await, 1);
    for (asset, expected) in [
        (
            json!({"name": "logo.gif", "content": gif}),
            &[("/asset/name", "another asset is named \"logo.gif\"")][..],
        ),
        (
            json!({"name": "../logo.gif", "content": gif}),
            &[("/asset/name", "relative paths")],
        ),
        (
            json!({"name": "a.gif", "content": "R0lGODlh="}),
            &[("/asset/content", "base64")],
        ),
        (
            json!({"name": "a.gif", "content": large}),
            &[("/asset/content", "at most 10485760 bytes; this one has 10485795")],
        ),
        (
            json!({"name": "a?.html", "content": "PHA+"}),
            &[("/asset/name", "letters, digits"), ("/asset/content", "PNG")],
        ),
        (json!({"name": "a.gif"}), &[("/asset/content", "required")]),
    ] {
        let request = studio.request(Method::POST, PATH).json(&json!({"asset": asset}));
        let found = problems(request.send().await.unwrap()).await;
        assert_eq!(found.len(), expected.len(), "{found:?}");
        for ((pointer, detail), (expected_pointer, part)) in found.iter().zip(expected) {
            assert_eq!(pointer, expected_pointer);
            assert!(detail.contains(part), "{detail}");
        }
    }
    // The name decides which texts are allowed.
    let request = studio
        .request(Method::PUT, &logo)
        .json(&replacement(b"p { color: red }"));
    let [(pointer, _)] = problems(request.send().await.unwrap()).await.try_into().expect("one");
    assert_eq!(pointer, "/asset/content");
    let file = get(&studio, &format!("{logo}/content")).await;
    assert_eq!(file.bytes().await.unwrap(), GIF);
}

#[tokio::test]
async fn pictures_and_fonts_are_described() {
    let studio = Studio::start().await;
    let logo = studio.asset("logo.gif", GIF).await;
    let found = json_of(get(&studio, &logo).await).await["data"].take();
    assert_eq!(
        (&found["picture"], &found["font"]),
        (&json!({"width": 1, "height": 1}), &Value::Null)
    );
    let font = studio.asset("fonts/Archivo.woff2", FONT).await;
    let found = json_of(get(&studio, &font).await).await["data"]["font"].take();
    assert_eq!(found["family"], "Archivo");
    assert_eq!(
        (&found["weight"], &found["width"]),
        (&json!([100, 900]), &json!([620, 1250]))
    );
    assert_eq!(
        (&found["axes"], &found["italic"]),
        (&json!(["wght", "wdth"]), &json!(false))
    );
    assert_eq!(found["embedding"], "installable");
    assert_eq!(found["scripts"][0]["script"], "Latin");

    let replace = studio.request(Method::PUT, &logo).json(&replacement(FONT));
    let replaced = json_of(replace.send().await.unwrap()).await["data"].take();
    assert_eq!(
        (&replaced["picture"], &replaced["font"]["family"]),
        (&Value::Null, &json!("Archivo"))
    );
}

#[tokio::test]
async fn hostile_and_damaged_files_are_refused_with_the_reason() {
    let studio = Studio::start().await;
    let logo = studio.asset("logo.gif", GIF).await;
    let svg = |content: &str| format!("<svg xmlns='http://www.w3.org/2000/svg'>{content}</svg>").into_bytes();
    let bomb = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\xff\xff\0\0\xff\xff\x08\0\0\0\0\x93\x6e\x86\x8c\0\0\0\0IDAT\x35\xaf\x06\x1e".to_vec();
    let entity =
        b"<!DOCTYPE svg [<!ENTITY x SYSTEM 'file:///etc/passwd'>]><svg xmlns='http://www.w3.org/2000/svg'>&x;</svg>";
    for (name, content, reason) in [
        ("a.svg", svg("<script>alert(1)</script>"), "must not contain scripts"),
        ("a.svg", svg("<path onload='alert(1)'/>"), "the attribute onload"),
        (
            "a.svg",
            svg("<a href='java&#9;script:alert(1)'/>"),
            "Remove it, or export the drawing as plain SVG",
        ),
        ("a.svg", entity.to_vec(), "entity"),
        ("a.svg", b"<html><svg/></html>".to_vec(), "not html"),
        ("a.png", bomb, "million pixels"),
        (
            "a.gif",
            b"GIF89a\x01\0\x01\0\0\0\0=1;/*<script>*/".to_vec(),
            "The picture is damaged",
        ),
        ("a.woff2", FONT[..FONT.len() / 2].to_vec(), "The font can't be unpacked"),
        (
            "a.ttf",
            b"\0\x01\0\0\0\x01".to_vec(),
            "its table directory is incomplete",
        ),
    ] {
        let asset = json!({"asset": {"name": name, "content": BASE64_STANDARD.encode(&content)}});
        let create = studio.request(Method::POST, PATH).json(&asset);
        let replace = studio.request(Method::PUT, &logo).json(&replacement(&content));
        for request in [Some(create), (name != "a.svg").then_some(replace)]
            .into_iter()
            .flatten()
        {
            let found = problems(request.send().await.unwrap()).await;
            let [(pointer, detail)] = found.try_into().expect("one");
            assert_eq!(pointer, "/asset/content");
            assert!(detail.contains(reason), "{name}: {detail}");
        }
    }
    assert_eq!(studio.service.number("select count(*) from assets").await, 1);
    let file = get(&studio, &format!("{logo}/content")).await;
    assert_eq!(file.bytes().await.unwrap(), GIF);
}

#[tokio::test]
async fn keys_for_certain_templates_change_no_assets() {
    let studio = Studio::start().await;
    let logo = studio.asset("logo.gif", GIF).await;
    let template = studio.template("Letter", "x").await;
    let (_, id) = template.rsplit_once('/').expect("an id");
    let key = studio
        .service
        .create_key("ann@example.org", "n", &["--allow-template", id])
        .succeeded();
    for (method, path, body) in [
        (
            Method::POST,
            PATH,
            json!({"asset": {"name": "a.gif", "content": BASE64_STANDARD.encode(GIF)}}),
        ),
        (Method::PUT, &logo, replacement(GIF)),
        (Method::DELETE, &logo, Value::Null),
    ] {
        let request = studio.service.client.request(method.clone(), studio.service.url(path));
        let answer = request.bearer_auth(&key).json(&body).send().await.unwrap();
        assert_eq!(answer.status(), 403, "{method}");
    }
}
