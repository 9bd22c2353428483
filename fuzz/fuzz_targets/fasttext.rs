#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| wordmover_fuzz::run("fasttext", data));
