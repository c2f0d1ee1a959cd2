//! The release archive and the Dockerfile, as far as this machine can check them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// The output of a command, which must succeed.
fn output(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{command:?}\n{out}{err}");
    out.into_owned()
}

/// The archive in a root folder of its own, where nothing else exists but the program's shared libraries: no
/// Rust, no checkout, no shell, no PATH and no HOME. Scenes load, run and are drawn. (The system may refuse
/// such a root to users other than root; then the same commands run in the unpacked folder.)
#[test]
fn the_archive_runs_on_a_machine_without_anything_else() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("archive");
    let _ = fs::remove_dir_all(&folder);
    let root = folder.join("root");
    fs::create_dir_all(&root).unwrap();
    let program = env!("CARGO_BIN_EXE_isobar");
    let script = Path::new(ROOT).join("scripts/release");
    let archive = output(Command::new(&script).args(["--program", program, "--out"]).arg(&folder));
    output(Command::new("tar").arg("-xzf").arg(archive.trim()).arg("-C").arg(&root));
    let unpacked: Vec<PathBuf> = fs::read_dir(&root).unwrap().map(|entry| entry.unwrap().path()).collect();
    let [unpacked] = &unpacked[..] else { panic!("one folder in the archive: {unpacked:?}") };
    // The shared libraries, by their paths as `ldd` prints them: `name => path (address)` or `path
    // (address)`.
    let libraries = output(Command::new("ldd").arg(unpacked.join("isobar")));
    for library in libraries.split_whitespace().filter(|word| word.starts_with('/')) {
        let name = Path::new(library).file_name().unwrap().to_string_lossy().into_owned();
        let known = ["libc.so", "libm.so", "libgcc_s.so", "libpthread.so", "libdl.so", "librt.so", "ld-linux"];
        assert!(known.iter().any(|start| name.starts_with(start)), "a machine may lack {library}");
        let copy = root.join(library.trim_start_matches('/'));
        fs::create_dir_all(copy.parent().unwrap()).unwrap();
        fs::copy(library, copy).unwrap();
    }
    let inside = Path::new("/").join(unpacked.file_name().unwrap());
    let isolate = |command: &mut Command| {
        command.args(["--user", "--map-root-user", "--root"]).arg(&root).arg("--wd").arg(&inside).env_clear();
    };
    let mut probe = Command::new("/usr/bin/unshare");
    isolate(probe.arg("--mount"));
    let is_isolated = probe.args(["./isobar", "--version"]).output().is_ok_and(|output| output.status.success());
    println!("in a root of its own: {is_isolated}");
    for arguments in [
        "--version",
        "run config/start/arm_on_table.yaml --duration 0.1 --csv arm.csv",
        "run config/drop.yaml --duration 0.1",
        "run config/meshes/mug_hangs.yaml --duration 0.005",
        "inspect urdf/two_link_arm.urdf",
        "render config/drop.yaml --out drop.png",
    ] {
        let mut command = if is_isolated {
            let mut command = Command::new("/usr/bin/unshare");
            isolate(command.arg("--mount"));
            command.arg("./isobar");
            command
        } else {
            let mut command = Command::new("./isobar");
            command.current_dir(unpacked).env_clear();
            command
        };
        output(command.args(arguments.split(' ')));
    }
    assert!(fs::metadata(unpacked.join("drop.png")).unwrap().len() > 1000);
    fs::remove_dir_all(&folder).unwrap();
}

/// The instructions of the Dockerfile, with lines that are continued joined.
fn instructions() -> Vec<(String, String)> {
    let text = fs::read_to_string(Path::new(ROOT).join("Dockerfile")).unwrap().replace("\\\n", " ");
    let lines = text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#'));
    lines.map(|line| line.split_once(' ').unwrap()).map(|(name, rest)| (name.to_owned(), rest.to_owned())).collect()
}

/// The files that the Dockerfile copies exist and are not kept out by .dockerignore, the scripts that it runs
/// are programs, and its packages are those that the set-up scripts ask for. If this system has an index of
/// Debian packages, they are in it.
#[test]
fn the_dockerfile_names_what_exists() {
    let ignored = fs::read_to_string(Path::new(ROOT).join(".dockerignore")).unwrap();
    let is_ignored = |path: &str| ignored.lines().any(|line| path == line || path.starts_with(&format!("{line}/")));
    let is_program = |path: &str| {
        use std::os::unix::fs::PermissionsExt;
        let mode = fs::metadata(Path::new(ROOT).join(path))
            .unwrap_or_else(|error| panic!("{path}: {error}"))
            .permissions()
            .mode();
        assert!(mode & 0o111 != 0 && !is_ignored(path), "{path} is a program of the image");
    };
    let (mut copied, mut ran, mut packages) = (0, 0, Vec::new());
    for (name, rest) in instructions() {
        let words: Vec<&str> =
            rest.split(|c: char| c.is_whitespace() || "[]\",".contains(c)).filter(|w| !w.is_empty()).collect();
        match name.as_str() {
            "FROM" => assert_eq!(rest, "rust:1-bookworm"),
            "WORKDIR" => {}
            "COPY" => {
                for source in &words[..words.len() - 1] {
                    assert!(Path::new(ROOT).join(source).exists() && !is_ignored(source), "COPY {source}");
                    copied += 1;
                }
            }
            "RUN" | "ENTRYPOINT" | "CMD" => {
                words.iter().filter(|word| word.starts_with("scripts/")).for_each(|word| {
                    is_program(word);
                    ran += 1;
                });
                if let Some(install) = rest.split("apt-get install").nth(1) {
                    let listed = install.split("&&").next().unwrap().split_whitespace();
                    packages.extend(listed.filter(|word| !word.starts_with('-')).map(str::to_owned));
                }
            }
            _ => panic!("{name}: check this instruction, too"),
        }
    }
    assert!(copied == 1 && ran == 3, "{copied} copies, {ran} scripts");
    let setup: String = ["ros2-env", "lib/common.sh", "lib/wheels.sh"]
        .map(|script| fs::read_to_string(Path::new(ROOT).join("scripts").join(script)).unwrap())
        .concat();
    for needed in setup.lines().filter(|line| line.trim_start().starts_with("isobar_need_packages \"")) {
        let Some(names) = needed.rsplit('"').next() else { continue };
        let names = names.split("||").next().unwrap().split_whitespace();
        for name in names.filter(|name| name.chars().all(|c| c.is_ascii_alphanumeric() || "-+.".contains(c))) {
            // Debian's build-essential contains the compilers and make.
            let name = if ["gcc", "g++", "make"].contains(&name) { "build-essential" } else { name };
            assert!(packages.iter().any(|package| package == name), "the set-up asks for {name}: {packages:?}");
        }
    }
    let known = |package: &str| Command::new("apt-cache").args(["show", package]).output();
    if !known("bash").is_ok_and(|output| output.status.success()) {
        return; // no index of packages
    }
    for package in &packages {
        assert!(known(package).is_ok_and(|output| output.status.success()), "no package {package}");
    }
}
