//! Test fixtures and helpers.

pub(crate) mod answers;
pub(crate) mod attack;
pub(crate) mod authenticator;
pub(crate) mod background;
pub(crate) mod cluster;
pub(crate) mod collector;
pub(crate) mod command;
pub(crate) mod description;
pub(crate) mod fault_proxy;
pub(crate) mod folder;
pub(crate) mod noise;
pub(crate) mod object_stores;
pub(crate) mod origin;
pub(crate) mod pdf;
pub(crate) mod people;
pub(crate) mod postgres;
pub(crate) mod process;
pub(crate) mod receiver;
pub(crate) mod service;
pub(crate) mod shop;
pub(crate) mod smtp;
pub(crate) mod storage_limits;
pub(crate) mod stripe_mock;
pub(crate) mod studio;
pub(crate) mod visitor;
pub(crate) mod wire;
