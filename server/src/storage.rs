//! Where documents and answers are kept: the data folder, and buckets of others.

pub mod answers;
pub mod aws_s3;
pub mod bucket;
pub mod documents;
pub mod google_cloud_storage;
pub mod object_stores;
