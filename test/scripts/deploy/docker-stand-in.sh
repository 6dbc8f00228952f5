#!/bin/sh
# What deployments ask of Docker, answered without building anything. A local image is a file below $HOME with its
# digest, which depends on the arguments of the build and on STAND_IN_SOURCES. STAND_IN_BASE is the last digit of the
# base image's digest; "none": its registry does not answer.
set -eu
images=$HOME/docker-images
base=${STAND_IN_BASE:-5}

file_of() {
  printf '%s/%s' "$images" "$(printf %s "$1" | tr /: __)"
}

build() {
  mkdir -p "$images"
  echo "docker $*" >>"$images/words"
  cat >/dev/null
  digest=$({ printf '%s\n' "$@" | grep =; echo "${STAND_IN_SOURCES:-}"; } | sha256sum | cut -c1-64)
  while [ "$1" != -t ]; do shift; done
  echo "$digest" >"$(file_of "$2")"
}

push() {
  url=${CLOUDFLARE_API_BASE_URL%/client/v4}/v2/pushed
  node --eval 'fetch(process.argv[1], { method: "POST", body: process.argv[2] })' "$url" \
    "$1@sha256:$(cat "$(file_of "$1")")"
}

inspect() {
  case "$2" in
  *Size*) echo "1000000 3" ;;
  *Os*) echo linux/amd64 ;;
  *)
    case "$1" in
    node:*) echo "[\"node@sha256:$(printf %064d "$base")\"]" ;;
    registry*) echo "[\"${1%:*}@sha256:$(cat "$(file_of "$1")")\"]" ;;
    *) echo "[]" ;;
    esac
    ;;
  esac
}

case "$1 ${2:-}" in
"info "* | "image rm") exit 0 ;;
"login "*) cat >/dev/null ;;
"pull "*) [ "$base" != none ] || { echo "no such host" >&2; exit 1; } ;;
"build "*) build "$@" ;;
"tag "*) cp "$(file_of "$2")" "$(file_of "$3")" ;;
"push "*) push "$2" ;;
"image inspect") inspect "$3" "$5" ;;
*)
  echo "not known: docker $*" >&2
  exit 1
  ;;
esac
