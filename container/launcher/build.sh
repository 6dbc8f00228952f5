#!/bin/sh
# Builds the launcher, and the attack program that tests it, into the folder "build" beside it.
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

compile launcher launcher.c options.c landlock.c seccomp.c bpf.c
compile attack attack.c
