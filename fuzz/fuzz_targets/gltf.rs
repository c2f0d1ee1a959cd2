#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| isobar_fuzz::parsers::gltf(data));
