//! Storage of an account, and the limits of its plan.

use std::fmt;

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr};

use crate::number::{grouped, storage_size};

/// A resource whose storage is limited by account. The names are used in the database and in forms.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, EnumString, IntoStaticStr,
)]
#[strum(const_into_str, serialize_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum StorageResource {
    /// Renders that have been accepted and not finished.
    QueuedRenders,
    /// Encrypted requests of queued renders, in bytes.
    QueuedBytes,
    /// Encrypted requests, thumbnails and logs of finished renders, in bytes. Whatever exceeds the limit is not
    /// retained.
    RetainedBytes,
    /// Responses stored for idempotency keys, in bytes.
    ResponseBytes,
    /// Documents in the service's own storage, in bytes.
    DocumentBytes,
    /// Versions of templates, in bytes.
    TemplateBytes,
    /// Templates that are not deleted.
    Templates,
    /// Encrypted assets, in bytes.
    AssetBytes,
    Assets,
    /// API keys that are not revoked.
    ApiKeys,
    /// Storage connections.
    Connections,
    /// Webhook deliveries of queued renders, and those that have not been delivered yet.
    PendingCallbacks,
    /// Members and invitations.
    Members,
}

impl StorageResource {
    /// In the order of the dashboard.
    pub const ALL: [Self; 13] = [
        Self::QueuedRenders,
        Self::QueuedBytes,
        Self::PendingCallbacks,
        Self::DocumentBytes,
        Self::ResponseBytes,
        Self::RetainedBytes,
        Self::TemplateBytes,
        Self::Templates,
        Self::AssetBytes,
        Self::Assets,
        Self::ApiKeys,
        Self::Connections,
        Self::Members,
    ];

    /// Returns the label, in the plural.
    pub fn label(self) -> &'static str {
        match self {
            Self::QueuedRenders => "Queued renders",
            Self::QueuedBytes => "Requests of queued renders",
            Self::RetainedBytes => "Requests, thumbnails and logs of finished renders",
            Self::ResponseBytes => "Responses stored for idempotency keys",
            Self::DocumentBytes => "Documents in default storage",
            Self::TemplateBytes => "Template versions",
            Self::Templates => "Templates",
            Self::AssetBytes => "Files of assets",
            Self::Assets => "Assets",
            Self::ApiKeys => "API keys",
            Self::Connections => "Storage connections",
            Self::PendingCallbacks => "Pending webhooks",
            Self::Members => "Members and invitations",
        }
    }

    /// Returns whether the resource is measured in bytes instead of being counted.
    pub fn is_in_bytes(self) -> bool {
        self.into_str().ends_with("_bytes")
    }

    /// Formats an amount of the resource: `1,000`, `500 MB`.
    pub fn amount(self, amount: i64) -> String {
        if self.is_in_bytes() {
            storage_size(amount)
        } else {
            grouped(amount)
        }
    }

    /// Returns how to make room.
    fn advice(self) -> &'static str {
        match self {
            Self::QueuedRenders => "Wait for queued renders to finish, cancel some",
            Self::QueuedBytes => "Wait for queued renders and batches to end, cancel some, send fewer rows in a batch",
            Self::RetainedBytes => "Wait until your plan's retention is over",
            Self::ResponseBytes => "Responses are stored for 24 hours: wait, send no Idempotency-Key",
            Self::DocumentBytes => {
                "Documents are deleted after 14 days: wait, deliver to a storage connection of your own"
            }
            Self::TemplateBytes => {
                "Deleted templates and unpublished versions go when your plan's retention is over: delete templates and \
                 wait"
            }
            Self::Templates => "Delete templates that are no longer needed",
            Self::AssetBytes | Self::Assets => "Delete assets that are no longer needed",
            Self::ApiKeys => "Revoke keys that are no longer needed",
            Self::Connections => "Delete storage connections that are no longer needed",
            Self::Members => "Remove members or withdraw invitations",
            Self::PendingCallbacks => {
                "Make the receivers of your webhooks answer, stop webhooks at /dashboard/webhooks"
            }
        }
    }
}

/// Storage of one resource by an account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StorageUse {
    pub resource: StorageResource,
    pub used: i64,
    /// Set by the plan or by an operator.
    pub limit: i64,
}

impl StorageUse {
    /// Returns the used share of the limit, from 0 to 1.
    pub fn share(&self) -> f64 {
        (self.used as f64 / self.limit.max(1) as f64).clamp(0.0, 1.0)
    }
}

/// A storage limit that would be exceeded. Contains no texts, because it travels in addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct StorageFull {
    pub resource: StorageResource,
    pub used: i64,
    /// Set by the plan or by an operator.
    pub limit: i64,
}

/// States the limit, the usage and what to do.
impl fmt::Display for StorageFull {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (resource, advice) = (self.resource, self.resource.advice());
        write!(
            formatter,
            "{} are limited to {}, of which {} are in use. {advice}, or change to a larger plan at /dashboard/billing.",
            resource.label(),
            resource.amount(self.limit),
            resource.amount(self.used),
        )
    }
}

impl std::error::Error for StorageFull {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back_and_are_those_of_the_wire() {
        for resource in StorageResource::ALL {
            assert_eq!(resource.into_str().parse(), Ok(resource));
            assert_eq!(serde_json::to_value(resource).unwrap(), resource.into_str());
        }
        assert!("disks".parse::<StorageResource>().is_err());
    }

    #[test]
    fn a_refusal_names_limit_use_and_next_step() {
        let full = StorageFull {
            resource: StorageResource::Templates,
            used: 50,
            limit: 50,
        };
        assert_eq!(
            full.to_string(),
            "Templates are limited to 50, of which 50 are in use. Delete templates that are no longer needed, or change \
             to a larger plan at /dashboard/billing."
        );
        let full = StorageFull {
            resource: StorageResource::DocumentBytes,
            used: 524_000_000,
            limit: 524_288_000,
        };
        assert!(
            full.to_string()
                .starts_with("Documents in default storage are limited to 500 MB, of which 499.7 MB")
        );
    }
}
