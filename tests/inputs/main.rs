//! Mutations of shipped files and of messages, the same in every run: nothing panics, memory is bounded, and
//! errors name the file. The functions are those of the fuzzing targets in fuzz/.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]
#![allow(non_snake_case, unreachable_pub)]

mod broken;
#[path = "../../fuzz/src/messages.rs"]
mod messages;
#[path = "../../fuzz/src/parsers.rs"]
mod parsers;
#[allow(dead_code, unused_imports)]
#[path = "../../fuzz/src/ros.rs"]
mod ros;

use std::path::{Path, PathBuf};
use std::process::Command;

// The checks of messages name these by the paths that they have in the library.
pub(crate) use isobar::{math, names, stepping};

/// Address space of a process that reads mutated files \[KiB\]: many times what the files need.
const MEMORY_MAX: u64 = 3 << 20;
/// Pieces that parsers are sensitive to.
const TOKENS: [&[u8]; 20] = [
    b"nan",
    b"-1",
    b"1e308",
    b"4294967295",
    b"18446744073709551616",
    b"0",
    b"\0",
    b"\xff\xfe",
    b"<",
    b"/>",
    b"]]>",
    b"&amp;",
    b"{",
    b"[",
    b": ",
    b"- ",
    b"\n",
    b"\"",
    b"1e-308",
    b"99999999",
];

/// Xorshift: the same numbers in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, count: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % count.max(1) as u64) as usize
    }

    /// `bytes` with one to four changes: a byte, a piece cut out, doubled or moved, a token put in, an early
    /// end.
    fn mutate(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut changed = bytes.to_vec();
        for _ in 0..=self.below(4) {
            let len = changed.len();
            let at = self.below(len);
            let end = (at + 1 + self.below(32)).min(len);
            match self.below(7) {
                0 if len > 0 => changed[at] ^= 1 << self.below(8),
                1 if len > 0 => changed[at] = self.below(256) as u8,
                2 => drop(changed.drain(at..end)),
                3 => {
                    let piece = changed[at..end].to_vec();
                    let to = self.below(len);
                    changed.splice(to..to, piece);
                }
                4 | 5 => {
                    let token = TOKENS[self.below(TOKENS.len())];
                    let over = if self.below(2) == 0 { at } else { end };
                    changed.splice(at..over, token.iter().copied());
                }
                _ => changed.truncate(len - self.below(len / 4 + 1)),
            }
        }
        changed
    }
}

fn root(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

const ROOM: &str = "
gravity: [0, 0, -9.81]
step: 0.001
ground: {}
contact: { stiction_tolerance: 1e-4 }
models: []
publish: { clock: 100 }
commands: {}
outputs: { faces: { face_count: {} } }
";

/// A tetrahedron in glTF.
const GLTF: &str = r#"{"asset":{"version":"2.0"},"scene":0,"scenes":[{"nodes":[0]}],"nodes":[{"mesh":0,"translation":[0.1,0,0]}],
"meshes":[{"primitives":[{"attributes":{"POSITION":0},"indices":1}]}],
"buffers":[{"byteLength":72,"uri":"data:application/octet-stream;base64,AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAgD8AAAAAAAAAAAAAAAAAAIA/AAACAAEAAAABAAMAAAADAAIAAQACAAMA"}],
"bufferViews":[{"buffer":0,"byteOffset":0,"byteLength":48},{"buffer":0,"byteOffset":48,"byteLength":24}],
"accessors":[{"bufferView":0,"componentType":5126,"count":4,"type":"VEC3","min":[0,0,0],"max":[1,1,1]},
{"bufferView":1,"componentType":5123,"count":12,"type":"SCALAR"}]}"#;

/// The function of a kind of file, its seeds, and how many mutations of each are tried.
type Kind = (fn(&[u8]), Vec<Vec<u8>>, usize);

fn kinds() -> Vec<Kind> {
    let read = |paths: &[&str]| paths.iter().map(|path| std::fs::read(root(path)).expect(path)).collect::<Vec<_>>();
    let srdf = b"<robot name=\"r\"><disable_collisions link1=\"a\" link2=\"b\" reason=\"x\"/></robot>".to_vec();
    let installed = "tests/golden/urdf/install/share/toy/meshes";
    let (dae, obj, vtk) =
        (format!("{installed}/tetra.dae"), format!("{installed}/cube.obj"), format!("{installed}/octant.vtk"));
    // The same file as JSON, and in the binary form.
    let padded = GLTF.bytes().chain(std::iter::repeat(b' ')).take(GLTF.len().next_multiple_of(4)).collect::<Vec<_>>();
    let word = |value: usize| (value as u32).to_le_bytes();
    let head = [b"glTF".as_slice(), &word(2), &word(20 + padded.len()), &word(padded.len()), b"JSON"].concat();
    let gltf = vec![GLTF.into(), [head, padded].concat()];
    let stl = "tests/golden/urdf/workspace/src/stack/toy_folder/meshes/tetra.stl";
    vec![
        (parsers::urdf, read(&["tests/golden/urdf/arm.urdf", "tests/ros/scenes/press.urdf"]), 600),
        (parsers::sdf, read(&["tests/golden/sdformat/arm.sdf", "tests/golden/sdformat/fault.sdf"]), 600),
        (parsers::scene, [read(&["tests/ros/scenes/press.yaml", "config/drop.yaml"]), vec![ROOM.into()]].concat(), 400),
        (parsers::srdf, vec![srdf], 1000),
        (parsers::stl, read(&[stl]), 1000),
        (parsers::obj, read(&[&obj]), 1000),
        (parsers::dae, read(&[&dae]), 1000),
        (parsers::gltf, gltf, 1000),
        (parsers::vtk, read(&[&vtk]), 1000),
    ]
}

/// Run by the test below, in a process of its own.
#[test]
#[ignore = "run by mutated_files_are_read_or_refused_by_name, in bounded memory"]
fn mutated_files() {
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    for (check, seeds, count) in kinds() {
        for seed in &seeds {
            check(seed);
            for _ in 0..count {
                check(&random.mutate(seed));
            }
        }
    }
}

#[test]
fn mutated_files_are_read_or_refused_by_name() {
    let program = std::env::current_exe().expect("this program");
    let script = format!("ulimit -v {MEMORY_MAX} && exec \"$0\" --ignored --exact mutated_files --test-threads 1");
    let output = Command::new("bash").arg("-c").arg(script).arg(program).output().expect("bash");
    let text = [output.stdout, output.stderr].concat();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&text));
}

#[test]
fn any_message_is_refused_or_followed_within_limits() {
    let mut random = Random(0xD1B5_4A32_D192_ED03);
    for _ in 0..20_000 {
        let len = random.below(200);
        let bytes: Vec<u8> = (0..len).map(|_| random.below(256) as u8).collect();
        messages::joint_state(&bytes);
        messages::joint_trajectory(&bytes);
    }
}

/// Checkpoints that were changed anywhere are refused. Under a right checksum they are read or refused, and a
/// simulation that takes one continues with a finite state.
#[test]
fn mutated_checkpoints_are_refused() {
    let scene =
        isobar::io::scene_file::load(&root("tests/ros/scenes/press.yaml"), &Default::default()).expect("a scene");
    let bytes = scene.simulation().expect("a simulation").save().to_bytes();
    let contents = &bytes[parsers::HEAD..bytes.len() - 4];
    assert_eq!(parsers::sealed(contents, &bytes), bytes, "the checksum is that of the format");
    let mut random = Random(7);
    for _ in 0..2000 {
        let changed = random.mutate(&bytes);
        assert!(changed == bytes || stepping::Checkpoint::from_bytes(&changed).is_err());
        parsers::checkpoint(&random.mutate(contents));
        let len = 11 * (1 + random.below(4));
        let changes: Vec<u8> = (0..len).map(|_| random.below(256) as u8).collect();
        parsers::checkpoint(&changes);
    }
}
