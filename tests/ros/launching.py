"""Launch files without ROS 2's launch packages, which PyPI does not have: a stand-in for the part of them
that the files of launch/ use. It evaluates a file to the processes that `ros2 launch` would start. If the
real packages are installed, test_launch.py compares the two."""

import importlib.util
import os
import shlex
import subprocess
import sys
import types
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import yaml


@dataclass
class Process:
    """A node that is to be started: its package, executable, and its arguments."""

    package: str
    executable: str
    name: str | None
    namespace: str
    parameters: list = field(default_factory=list)
    arguments: list = field(default_factory=list)
    # The program that starts it. With None, that of `ros2 launch --launch-prefix` applies, which "" replaces.
    prefix: str | None = None

    def command(self, prefix, folder):
        """The command line; parameters go into a file in `folder`, as strings on a command line would be read
        as YAML."""
        line = [*shlex.split(self.prefix or ""), str(Path(prefix) / "lib" / self.package / self.executable), *self.arguments, "--ros-args"]
        if self.name:
            line += ["-r", f"__node:={self.name}"]
        if self.namespace:
            line += ["-r", f"__ns:={self.namespace}"]
        for number, entry in enumerate(self.parameters):
            path = entry
            if isinstance(entry, dict):
                path = Path(folder) / f"{self.executable}_{number}.yaml"
                path.write_text(yaml.safe_dump({"/**": {"ros__parameters": entry}}))
            line += ["--params-file", str(path)]
        return line


@dataclass
class Context:
    values: dict
    namespace: str = ""
    processes: list = field(default_factory=list)


def text(value, context):
    """Evaluates a substitution, or a list of them, to one string."""
    if isinstance(value, (list, tuple)):
        return "".join(text(part, context) for part in value)
    return value.perform(context) if hasattr(value, "perform") else str(value)


class Substitution:
    def __init__(self, value):
        self.value = value


class LaunchConfiguration(Substitution):
    def perform(self, context):
        return context.values[self.value]


class PathJoinSubstitution(Substitution):
    def perform(self, context):
        return os.path.join(*[text(part, context) for part in self.value])


class Command(Substitution):
    def perform(self, context):
        return subprocess.run(shlex.split(text(self.value, context)), check=True, capture_output=True, text=True).stdout


class FindPackageShare(Substitution):
    def perform(self, context):
        for prefix in os.environ["AMENT_PREFIX_PATH"].split(":"):
            if (Path(prefix) / "share/ament_index/resource_index/packages" / self.value).exists():
                return str(Path(prefix) / "share" / self.value)
        raise LookupError(f"package {self.value} is not installed")


def truth(value):
    if value.lower() not in {"true", "false", "1", "0"}:
        raise ValueError(f"{value!r} is neither true nor false")
    return value.lower() in {"true", "1"}


class IfCondition(Substitution):
    def holds(self, context):
        return truth(text(self.value, context))


class ParameterValue:
    def __init__(self, value, *, value_type):
        self.value, self.kind = value, value_type

    def evaluate(self, context):
        value = text(self.value, context)
        return truth(value) if self.kind is bool else self.kind(value)


class ParameterFile(Substitution):
    pass


class LaunchDescription:
    def __init__(self, actions):
        self.actions = actions

    def execute(self, context):
        for action in self.actions:
            action.execute(context)


class GroupAction(LaunchDescription):
    def execute(self, context):
        kept = dict(context.values), context.namespace
        super().execute(context)
        context.values, context.namespace = kept


class DeclareLaunchArgument:
    def __init__(self, name, *, default_value=None, description=""):
        self.name, self.default, self.description = name, default_value, description

    def execute(self, context):
        if self.name not in context.values:
            if self.default is None:
                raise LookupError(f"launch argument {self.name} is missing")
            context.values[self.name] = text(self.default, context)


class OpaqueFunction:
    def __init__(self, *, function):
        self.function = function

    def execute(self, context):
        for action in self.function(context):
            action.execute(context)


class IncludeLaunchDescription:
    def __init__(self, source, *, launch_arguments):
        self.source, self.values = source, list(launch_arguments)

    def execute(self, context):
        for name, value in self.values:
            context.values[name] = text(value, context)
        load(text(self.source.value, context)).execute(context)


class Shutdown:
    pass


class PushRosNamespace(Substitution):
    def execute(self, context):
        context.namespace = joined(context.namespace, text(self.value, context))


def joined(namespace, more):
    return "/".join(["", *[part.strip("/") for part in (namespace, more) if part.strip("/")]]) if namespace or more else ""


class Node:
    def __init__(self, *, package, executable, name=None, namespace="", parameters=(), arguments=(), condition=None, prefix=None, output=None, on_exit=None):
        self.process = Process(package, executable, name, namespace)
        self.parameters, self.arguments, self.condition, self.prefix = parameters, arguments, condition, prefix

    def execute(self, context):
        if self.condition is not None and not self.condition.holds(context):
            return
        parameters = []
        for entry in self.parameters:
            if isinstance(entry, ParameterFile):
                parameters.append(text(entry.value, context))
            else:
                evaluated = lambda v: v.evaluate(context) if isinstance(v, ParameterValue) else v
                parameters.append({name: evaluated(value) for name, value in entry.items()})
        arguments = [text(argument, context) for argument in self.arguments]
        process = self.process
        namespace = joined(context.namespace, text(process.namespace, context))
        prefix = None if self.prefix is None else text(self.prefix, context)
        context.processes.append(Process(process.package, process.executable, process.name, namespace, parameters, arguments, prefix))


class PythonLaunchDescriptionSource(Substitution):
    pass


# The stand-in's modules under the real ones' names.
MODULES = {
    "launch": [LaunchDescription],
    "launch.actions": [DeclareLaunchArgument, GroupAction, IncludeLaunchDescription, OpaqueFunction, Shutdown],
    "launch.conditions": [IfCondition],
    "launch.launch_description_sources": [PythonLaunchDescriptionSource],
    "launch.substitutions": [Command, LaunchConfiguration, PathJoinSubstitution],
    "launch_ros": [],
    "launch_ros.actions": [Node, PushRosNamespace],
    "launch_ros.parameter_descriptions": [ParameterFile, ParameterValue],
    "launch_ros.substitutions": [FindPackageShare],
}


@contextmanager
def stand_in():
    """Within this context the modules of MODULES are the stand-in's, and task_launch is loaded with them."""
    names = [*MODULES, "task_launch"]
    kept, path = {name: sys.modules.pop(name) for name in names if name in sys.modules}, list(sys.path)
    for name, contents in MODULES.items():
        module = sys.modules[name] = types.ModuleType(name)
        for content in contents:
            setattr(module, content.__name__, content)
    try:
        yield
    finally:
        for name in names:
            sys.modules.pop(name, None)
        sys.modules.update(kept)
        sys.path[:] = path


def load(path):
    spec = importlib.util.spec_from_file_location("launch_file", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.generate_launch_description()


def evaluate(path, arguments):
    """The processes that the launch file would start, and the values of its arguments."""
    context = Context(dict(arguments))
    with stand_in():
        load(path).execute(context)
    return context.processes, context.values
