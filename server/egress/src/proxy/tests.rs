mod assets;
mod forwarding;
mod lifetime;
mod limits;
mod refusing;
mod support;
