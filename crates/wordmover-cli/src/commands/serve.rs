//! `wordmover serve`: the service.

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::Result;
use wordmover_serve::{Error, LogFormat, ServeParams, Server};

use crate::args::{LimitArguments, ServeArguments, ServeLog, set};
use crate::progress::say;
use crate::usage::usage_error;

pub fn run(arguments: &ServeArguments, quiet: bool) -> Result<()> {
    let files = [&arguments.model, &arguments.classifier, &arguments.index];
    if arguments.vectors.vectors.is_some() && files.iter().all(|file| file.is_none()) {
        return Err(usage_error(
            "--vectors needs --model, --classifier or --index: the built-in model has its own",
        ));
    }
    let address = SocketAddr::new(arguments.host, arguments.port);
    let mut params = ServeParams::new(address);
    params.sources.model = arguments.model.clone();
    params.sources.classifier = arguments.classifier.clone();
    params.sources.index = arguments.index.clone();
    params.sources.vectors = arguments.vectors.open_named()?;
    params.sources.accelerator = arguments.device.open()?;
    params.sources.name = arguments.model_name.clone();
    params.api_key_file = arguments.api_key_file.clone();
    params.without_key = arguments.no_api_key;
    params.signals = true;
    params.log = match arguments.log {
        ServeLog::Events => LogFormat::Events,
        ServeLog::Json => LogFormat::Json,
    };
    arguments.limits.apply(&mut params);
    let silent = quiet && params.log == LogFormat::Events;
    let sink = Box::new(move |line: &str| {
        if !silent {
            say(line);
        }
    });
    let server = Server::bind(params, sink).map_err(|error| match error {
        Error::Public(_) => usage_error(error.to_string()),
        other => other.into(),
    })?;
    Ok(server.run()?)
}

impl LimitArguments {
    fn apply(&self, params: &mut ServeParams) {
        let limits = &mut params.limits;
        let size = |given: Option<u64>| given.map(|given| given as usize);
        set(&mut limits.body_bytes, size(self.max_body));
        set(&mut limits.texts, size(self.max_texts));
        set(&mut limits.words, size(self.max_words));
        set(&mut limits.queue, size(self.queue));
        set(
            &mut limits.request_time,
            self.timeout.map(Duration::from_secs),
        );
    }
}
