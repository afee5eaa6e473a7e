//! Flows through the real binary, Postgres and Chromium.
