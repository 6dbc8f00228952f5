#!/bin/sh
# Builds the launcher, and the attacks that prove it, into the folder "build" beside this file.
set -eu
cd "$(dirname "$0")"
mkdir -p build

# A build that is under way elsewhere, or a launcher that runs, is not disturbed by a rename.
compile() {
  name=$1
  shift
  "${CC:-cc}" -O2 -Wall -Wextra -Werror -o "build/$name.$$" "$@"
  mv "build/$name.$$" "build/$name"
}

compile launcher launcher.c options.c landlock.c seccomp.c
compile attack attack.c
