//! Objects as resources of Google's JSON API.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use google_cloud_storage::model::Object;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};
use time::{OffsetDateTime, format_description::well_known::Rfc3339, macros::format_description};

/// Characters that are escaped in an object's name as one path segment.
pub(super) const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Returns the JSON API's resource of an object. The client library has it in the form of the gRPC API, which lacks
/// addresses and omits unset fields.
pub(super) fn result(bucket: &str, object: Object) -> Value {
    let name = utf8_percent_encode(&object.name, SEGMENT);
    let generation = object.generation.to_string();
    let checksums = object.checksums.unwrap_or_default();
    json!({
        "bucket": bucket,
        "name": object.name,
        "id": format!("{bucket}/{}/{generation}", object.name),
        "etag": object.etag,
        "md5Hash": set(BASE64_STANDARD.encode(checksums.md5_hash)),
        "size": object.size.to_string(),
        "storageClass": object.storage_class,
        "timeCreated": time_of(object.create_time),
        "mediaLink": format!(
            "https://storage.googleapis.com/download/storage/v1/b/{bucket}/o/{name}?generation={generation}&alt=media"
        ),
        "selfLink": format!("https://www.googleapis.com/storage/v1/b/{bucket}/o/{name}"),
        "generation": generation,
        "metageneration": object.metageneration.to_string(),
        "crc32c": checksums.crc32c.map(|crc| BASE64_STANDARD.encode(crc.to_be_bytes())),
        "timeFinalized": time_of(object.finalize_time),
        "updated": time_of(object.update_time),
        "timeStorageClassUpdated": time_of(object.update_storage_class_time),
        "kind": "storage#object",
        "softDeleteTime": time_of(object.soft_delete_time),
        "hardDeleteTime": time_of(object.hard_delete_time),
        "contentLanguage": set(object.content_language),
        // Like all fields that are always null, it is set only by the writer, and Platen doesn't set it.
        "retention": null,
        "retentionExpirationTime": time_of(object.retention_expire_time),
        "kmsKeyName": set(object.kms_key),
        "customTime": time_of(object.custom_time),
        "contentEncoding": set(object.content_encoding),
        "eventBasedHold": object.event_based_hold,
        "temporaryHold": object.temporary_hold.then_some(true),
        "componentCount": (object.component_count != 0).then_some(object.component_count),
        "cacheControl": set(object.cache_control),
        // Only returned on request.
        "owner": null,
        "restoreToken": object.restore_token,
        "contentType": set(object.content_type),
        "customerEncryption": null,
        "timeDeleted": time_of(object.delete_time),
        "metadata": (!object.metadata.is_empty()).then_some(object.metadata),
        "acl": null,
        "contentDisposition": set(object.content_disposition),
    })
}

/// Unset text is empty in gRPC.
fn set(text: String) -> Option<String> {
    Some(text).filter(|text| !text.is_empty())
}

/// Formats a time with exactly three digits of milliseconds, as the JSON API does. The client library represents
/// missing times by the Unix epoch.
fn time_of(time: Option<impl Into<String>>) -> Option<String> {
    let form = format_description!("[year]-[month]-[day]T[hour]:[minute]:[second].[subsecond digits:3]Z");
    let time = OffsetDateTime::parse(&time?.into(), &Rfc3339).ok()?;
    (time != OffsetDateTime::UNIX_EPOCH).then(|| time.format(form).ok())?
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use google_cloud_storage::model::ObjectChecksums;

    use super::*;

    fn object() -> Object {
        let checksums = ObjectChecksums::new()
            .set_crc32c(0xa345_377a_u32)
            .set_md5_hash(Bytes::from_static(&[7; 16]));
        Object::new()
            .set_name("a/ä.pdf")
            .set_bucket("projects/_/buckets/documents")
            .set_generation(1_795_320_861_664_279_i64)
            .set_size(1000)
            .set_checksums(checksums)
    }

    #[test]
    fn what_the_client_library_drops_is_rebuilt() {
        let told = result("documents", object());
        for (name, value) in [
            ("bucket", "documents"),
            ("id", "documents/a/ä.pdf/1795320861664279"),
            (
                "selfLink",
                "https://www.googleapis.com/storage/v1/b/documents/o/a%2F%C3%A4.pdf",
            ),
            (
                "mediaLink",
                "https://storage.googleapis.com/download/storage/v1/b/documents/o/a%2F%C3%A4.pdf\
                 ?generation=1795320861664279&alt=media",
            ),
            ("kind", "storage#object"),
            ("size", "1000"),
            ("crc32c", "o0U3eg=="),
            ("md5Hash", "BwcHBwcHBwcHBwcHBwcHBw=="),
        ] {
            assert_eq!(told[name], value, "{name}");
        }
    }

    #[test]
    fn what_is_set_is_told_and_what_is_not_is_null() {
        let names = [
            "kmsKeyName",
            "contentType",
            "temporaryHold",
            "eventBasedHold",
            "componentCount",
            "metadata",
        ];
        let told = result("documents", object());
        for name in names {
            assert_eq!(told[name], Value::Null, "{name}");
        }
        let set = object()
            .set_kms_key("key")
            .set_content_type("application/pdf")
            .set_temporary_hold(true)
            .set_event_based_hold(false)
            .set_component_count(2)
            .set_metadata([("a", "b")]);
        let told = result("documents", set);
        let values = [
            json!("key"),
            json!("application/pdf"),
            json!(true),
            json!(false),
            json!(2),
            json!({"a": "b"}),
        ];
        for (name, value) in names.into_iter().zip(values) {
            assert_eq!(told[name], value, "{name}");
        }
    }

    #[test]
    fn times_have_milliseconds() {
        assert_eq!(
            time_of(Some("2026-11-22T09:30:00Z")).as_deref(),
            Some("2026-11-22T09:30:00.000Z")
        );
        assert_eq!(
            time_of(Some("2026-11-22T09:30:00.12Z")).as_deref(),
            Some("2026-11-22T09:30:00.120Z")
        );
        assert_eq!(time_of(Some("1970-01-01T00:00:00Z")), None);
        assert_eq!(time_of(None::<String>), None);
    }
}
