# The node, the program and the demo of Isobar, with ROS 2 Jazzy. docs/how-to/install.md has the commands.
#
#   docker build -t isobar .
#   docker run --rm isobar
FROM rust:1-bookworm

# Compilers for the optional message packages, and Python for the prefix of ROS 2.
RUN apt-get update && apt-get install -y --no-install-recommends build-essential cmake python3 python3-venv \
    && rm -rf /var/lib/apt/lists/*

WORKDIR /isobar
COPY . .
RUN scripts/build
ENTRYPOINT ["scripts/lib/in_ros2"]
CMD ["scripts/demo"]
