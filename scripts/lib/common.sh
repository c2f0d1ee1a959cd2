# Functions shared by the scripts, for bash. This file is sourced, never run. A sourced file must not exit, so
# a function that cannot do its work prints a message on stderr and returns non-zero.

isobar_say() { printf '\033[1misobar:\033[0m %s\n' "$*" >&2; }
isobar_complain() { printf '\033[1;31misobar:\033[0m %s\n' "$*" >&2; }

# isobar_need_packages TEST-COMMAND PACKAGE...: runs the test. If it fails, installs the Debian packages when
# run by root, and otherwise prints the command that installs them.
isobar_need_packages() {
  local probe=$1
  shift
  eval "$probe" >/dev/null 2>&1 && return 0
  local install="apt-get install -y --no-install-recommends $*"
  if ! command -v apt-get >/dev/null; then
    isobar_complain "missing: $*. Install them with your system's package manager and start again."
    return 1
  fi
  if [ "$(id -u)" != 0 ]; then
    isobar_complain "missing: $*. Run this, then start again:"
    echo "  sudo apt-get update && sudo $install" >&2
    return 1
  fi
  isobar_say "installing $*"
  { apt-get update -qq && DEBIAN_FRONTEND=noninteractive $install >/dev/null; } || {
    isobar_complain "could not install $*: see the lines above"
    return 1
  }
  eval "$probe" >/dev/null 2>&1
}

isobar_need_rust() {
  [ -f "$HOME/.cargo/env" ] && . "$HOME/.cargo/env"
  command -v cargo >/dev/null && return 0
  isobar_complain "Rust is missing: install it from https://rustup.rs (1.89 or newer), then start again"
  return 1
}

# isobar_find_python: sets ISOBAR_BASE_PYTHON to the Python 3.10 to 3.14 that makes the virtual environment.
isobar_find_python() {
  local candidate
  for candidate in python3 python3.12 python3.11 python3.13 python3.10 python3.14; do
    if "$candidate" -c 'import sys; sys.exit(not (3, 10) <= sys.version_info[:2] <= (3, 14))' 2>/dev/null; then
      ISOBAR_BASE_PYTHON=$(command -v "$candidate")
      isobar_need_packages "'$ISOBAR_BASE_PYTHON' -m ensurepip --version" python3-venv
      return
    fi
  done
  isobar_complain "Python 3.10 to 3.14 is missing: install python3 and python3-venv, then start again"
  return 1
}

# isobar_have_libclang: whether bindgen, which reads the ROS headers, finds libclang without help. The C++
# interface, libclang-cpp, is not sufficient.
isobar_have_libclang() {
  local file folders=(/usr/lib/llvm*/lib /usr/lib/*-linux-gnu /usr/lib64 /usr/lib /usr/local/lib)
  [ -n "${LIBCLANG_PATH:-}" ] && return 0
  command -v llvm-config >/dev/null && folders+=("$(llvm-config --libdir)")
  for file in "${folders[@]/%//libclang.so}" "${folders[@]/%//libclang-[0-9]*.so}" "${folders[@]/%//libclang-[0-9]*.so.[0-9]*}" \
    "${folders[@]/%//libclang.so.[0-9]*}"; do
    compgen -G "$file" >/dev/null && return 0
  done
  return 1
}

# isobar_use_libclang PYTHON: takes the system's libclang, or the one from a wheel, which needs no root
# rights.
isobar_use_libclang() {
  isobar_have_libclang && return 0
  "$1" -c 'import clang' 2>/dev/null || "$1" -m pip install -q libclang==18.1.1 || return 1
  LIBCLANG_PATH=$("$1" -c 'import clang, os; print(os.path.join(list(clang.__path__)[0], "native"))') || return 1
  BINDGEN_EXTRA_CLANG_ARGS="-I$(gcc -print-file-name=include) ${BINDGEN_EXTRA_CLANG_ARGS:-}"
  export LIBCLANG_PATH BINDGEN_EXTRA_CLANG_ARGS
}

# isobar_target_dir: the build folder of cargo for the present ROS environment. Each environment has its own
# folder, because generated bindings differ.
isobar_target_dir() {
  printf '%s/target/ros-%s-%s\n' "$ISOBAR_ROOT" "$ROS_DISTRO" "$(printf '%s' "$AMENT_PREFIX_PATH" | cksum | cut -d' ' -f1)"
}

# isobar_build_node: builds the node and the headless program in release, and sets ISOBAR_BIN to their folder.
isobar_build_node() {
  local target started=$SECONDS
  target=$(isobar_target_dir) || return 1
  isobar_say "building the node (the first time takes some minutes)"
  (cd "$ISOBAR_ROOT" && CARGO_TARGET_DIR=$target cargo build --locked --release --features ros --bins) || {
    isobar_complain "the build failed: see the lines above"
    return 1
  }
  ISOBAR_BIN=$target/release
  export ISOBAR_BIN
  isobar_say "built in $((SECONDS - started)) s: $ISOBAR_BIN/isobar_node"
}

# isobar_free_domain: prints a random ROS domain, so that two runs on a machine rarely interfere.
isobar_free_domain() { printf '%s\n' $((1 + ($$ + RANDOM) % 100)); }

# isobar_take_domain: keeps ROS_DOMAIN_ID (0 if unset) unless another run of these scripts has it. In that
# case it takes the next free domain and logs it. The lock ends with the last process of the script.
isobar_take_domain() {
  local wanted=${ROS_DOMAIN_ID:-0} domain lock
  for domain in "$wanted" $(seq 1 100); do
    { exec {lock}>"${TMPDIR:-/tmp}/isobar_domain_$domain.lock"; } 2>/dev/null || continue
    if flock -n "$lock"; then
      [ "$domain" = "$wanted" ] || isobar_say "another run has ROS domain $wanted: this one is in $domain (export ROS_DOMAIN_ID=$domain)"
      export ROS_DOMAIN_ID=$domain
      return 0
    fi
    exec {lock}>&-
  done
  isobar_complain "no ROS domain is free: is something left running?"
  return 1
}

# isobar_stop PID: sends SIGTERM to a process of this script, and SIGKILL if it still runs after 10 s; returns
# its exit status. An empty PID does nothing.
isobar_stop() {
  local pid=$1 tries=0
  [ -n "$pid" ] || return 0
  kill -TERM "$pid" 2>/dev/null
  while kill -0 "$pid" 2>/dev/null && [ $((tries += 1)) -lt 100 ]; do sleep 0.1; done
  kill -KILL "$pid" 2>/dev/null
  wait "$pid" 2>/dev/null
}
