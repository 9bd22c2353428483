//! The service as its clients meet it: a running server, asked over sockets.

mod connections;
mod embeddings;
mod files;
mod keys;
mod limits;
mod operation;
mod pages;
mod refusals;
mod routes;
mod support;
