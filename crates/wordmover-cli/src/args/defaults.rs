//! The parser, with the defaults of the library in its help texts.
//!
//! Options of the embedding are no defaults of the parser: a model brings its own, and
//! `similarity` has others than `embed`. So the help says which value is used where an
//! option is not given, read from the parameters that the command starts from.

use clap::{Command, CommandFactory};
use wordmover::EmbeddingParams;
use wordmover::text::StopWords;

use super::Arguments;

/// The whole command line.
pub fn command() -> Command {
    let embed = EmbeddingParams::default();
    Arguments::command()
        .mut_subcommand("embed", |command| with_defaults(command, &embed))
        .mut_subcommand("fit", |command| with_defaults(command, &embed))
        .mut_subcommand("similarity", |command| {
            let command = with_defaults(command, &EmbeddingParams::for_similarity());
            with_default(command, "stop_words", "none; smart with --method wmd")
        })
        .mut_subcommand("distance", |command| with_text_defaults(command, &embed))
        .mut_subcommand("search", |command| with_text_defaults(command, &embed))
        .mut_subcommand("train", |command| with_learning_defaults(command, &embed))
        .mut_subcommand("evaluate", |command| {
            with_learning_defaults(command, &embed)
        })
}

/// States the defaults of the options that make an embedding.
fn with_defaults(command: Command, params: &EmbeddingParams) -> Command {
    let mut command = with_text_defaults(command, params);
    for (option, default) in [
        ("features", params.n_features.to_string()),
        ("d_max", params.d_max.to_string()),
        ("gamma", params.gamma.to_string()),
        ("weights", params.documents.bag.weighting.to_string()),
        ("frequencies", "builtin".to_owned()),
        ("random_words", params.random_words.to_string()),
        ("normalize", params.documents.normalization.to_string()),
        ("post_processing", params.post_processing.to_string()),
        ("components", params.components.to_string()),
        ("seed", params.seed.to_string()),
        ("min_count", params.documents.bag.min_count.to_string()),
        ("max_words", params.documents.bag.max_words.to_string()),
    ] {
        command = with_default(command, option, &default);
    }
    command
}

fn with_text_defaults(command: Command, params: &EmbeddingParams) -> Command {
    let stop_words = match params.documents.tokenizer.stop_words {
        StopWords::None => "none",
        _ => "smart",
    };
    let command = with_default(command, "stop_words", stop_words);
    with_default(
        command,
        "case",
        &params.documents.tokenizer.case.to_string(),
    )
}

/// Stop words are dropped or kept by cross-validation, unless given.
fn with_learning_defaults(command: Command, params: &EmbeddingParams) -> Command {
    let command = with_text_defaults(command, params);
    let default = "the better of smart and none; smart with --protocol paper or --method knn-wmd";
    with_default(command, "stop_words", default)
}

/// Puts a default at the end of an option's help, in place of one that is there.
fn with_default(command: Command, option: &str, default: &str) -> Command {
    command.mut_arg(option, |argument| {
        let help = argument
            .get_help()
            .map(ToString::to_string)
            .unwrap_or_default();
        let help = help.split(" [default: ").next().unwrap_or_default();
        argument.help(format!("{help} [default: {default}]"))
    })
}

#[cfg(test)]
mod tests {

    fn default_of(command: &str, option: &str) -> String {
        let mut all = super::command();
        let help = all.find_subcommand_mut(command).unwrap().render_help();
        let help = help.to_string();
        let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
        let about = help.split(&format!(" {option} <")).nth(1).unwrap();
        let default = about.split("[default: ").nth(1).unwrap();
        default.split(']').next().unwrap().to_owned()
    }

    #[test]
    fn the_help_states_the_values_that_are_used() {
        for (option, embed, similarity) in [
            ("--features", "512", "1024"),
            ("--d-max", "6", "3"),
            ("--gamma", "auto", "auto"),
            ("--weights", "nbow", "sif"),
            ("--frequencies", "builtin", "builtin"),
            ("--random-words", "uniform", "uniform"),
            ("--normalize", "unit", "unit"),
            ("--post-processing", "standardize", "standardize"),
            ("--components", "flatten=3", "flatten=3"),
            ("--seed", "0", "0"),
            ("--min-count", "1", "1"),
            ("--max-words", "500", "500"),
            ("--stop-words", "smart", "none; smart with --method wmd"),
            ("--case", "lower", "lower"),
        ] {
            assert_eq!(default_of("embed", option), embed, "{option}");
            assert_eq!(default_of("fit", option), embed, "{option}");
            assert_eq!(default_of("similarity", option), similarity, "{option}");
        }
        for command in ["distance", "search", "train", "evaluate"] {
            let stop_words = default_of(command, "--stop-words");
            match command {
                "train" | "evaluate" => {
                    assert!(stop_words.starts_with("the better of"), "{stop_words}");
                }
                _ => assert_eq!(stop_words, "smart"),
            }
            assert_eq!(default_of(command, "--normalize"), "unit");
        }
    }
}
