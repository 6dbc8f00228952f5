#!/bin/sh
# What wrangler asks of Docker while it deploys, answered without building anything. The "digest" is
# of the tag's repository alone, so that the same image is found again.
case "$1 ${2:-}" in
"info "* | "tag "* | "push "*) exit 0 ;;
"build "* | "login "*) cat >/dev/null ;;
"image inspect")
  case "$*" in
  *Size*) echo "1000000 3" ;;
  *) echo "[\"registry.cloudflare.com/account-1/${3%%:*}@sha256:$(printf %064d 7)\"]" ;;
  esac
  ;;
"image rm") exit 0 ;;
"manifest inspect") echo "{\"Descriptor\":{\"digest\":\"sha256:$(printf %064d 7)\"}}" ;;
*)
  echo "not known: docker $*" >&2
  exit 1
  ;;
esac
