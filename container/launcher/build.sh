#!/bin/sh
# Builds the launcher, the attack programs that test it, the meter of workspaces, and what is loaded
# into a tool to hold it or to watch its reads, into the folder "build" beside them.
set -eu
cd "$(dirname "$0")"
mkdir -p build

# Renames the result into place, so that concurrent builds and running launchers are not disturbed.
compile() {
  name=$1
  shift
  "${CC:-cc}" -O2 -Wall -Wextra -Werror -o "build/$name.$$" "$@"
  mv "build/$name.$$" "build/$name"
}

confining="confine.c options.c order.c processes.c broker.c landlock.c seccomp.c bpf.c"
compile launcher launcher.c reach.c $confining
compile hold.so -shared -fPIC -fvisibility=hidden hold.c $confining -ldl
compile meter meter.c
compile reads.so -shared -fPIC reads.c -pthread
compile attack attack.c
compile network-attack network-attack.c network-connecting.c network-escaping.c -pthread
