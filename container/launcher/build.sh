#!/bin/sh
# Builds the launcher, the attack programs that test it, the program that measures workspaces, and
# the libraries that hold a tool before its main() or watch its reads. Writes them into the folder
# "build" beside this script.
set -eu
cd "$(dirname "$0")"
mkdir -p build

# Compiles to a temporary name and renames the result, so that concurrent builds and running
# launchers are not disturbed.
compile() {
  name=$1
  shift
  "${CC:-cc}" -O2 -Wall -Wextra -Werror -o "build/$name.$$" "$@"
  mv "build/$name.$$" "build/$name"
}

confining="confine.c options.c order.c processes.c broker.c landlock.c seccomp.c seccomp-filter.c"
compile launcher launcher.c reach.c $confining
compile hold.so -shared -fPIC -fvisibility=hidden hold.c $confining -ldl
compile meter meter.c
compile reads.so -shared -fPIC watched-reads.c -pthread
compile attack attack.c
compile network-attack network-attack.c network-connections.c network-escapes.c -pthread
