import { describe, expect, test } from "vitest"
import { detectSourceKind } from "../../../../container/tasks/import/source-kind.ts"

const MP4 = Buffer.from("\0\0\0\x20ftypisom", "latin1")
const MPD = '<?xml version="1.0"?>\n<!-- made -->\n<MPD xmlns="urn:mpeg:dash:schema:mpd:2011">'

describe("a source is a page", () => {
  test.for([
    ["a page", "<!DOCTYPE html><title>x</title>", "text/html"],
    ["a page behind blank lines and a comment", "\n\n <!-- x -->\n<html>", "text/html"],
    ["a page of XML", '<?xml version="1.0"?><!DOCTYPE html><html>', "application/xhtml+xml"],
    ["a page with a binary type", "<!doctype html>", "application/octet-stream"],
    ["a page with the type of a video", "<html><body>log in", "video/mp4"],
    ["a page without a type", "<html>", null],
    ["a fragment of a page", "<p>hello", "text/html"],
    ["a playlist", "#EXTM3U\n#EXT-X-VERSION:3", "application/vnd.apple.mpegurl"],
    ["a playlist with a byte order mark", "\ufeff#EXTM3U\n", "audio/mpegurl"],
    ["a playlist with a binary type", "#EXTM3U\n", "application/octet-stream"],
    ["a playlist with the type of text", "#EXTM3U\n", "text/plain"],
    ["a manifest", MPD, "application/dash+xml"],
    ["a manifest with a binary type", MPD, "application/octet-stream"],
    ["a manifest with a prefix", "<dash:MPD >", "application/xml"],
  ] as const)("as %s", ([, text, type]) => {
    expect(detectSourceKind(Buffer.from(text), type)).toBe("page")
  })

  test("in UTF-16 as well", () => {
    expect(detectSourceKind(Buffer.from("\ufeff<html>", "utf16le"), null)).toBe("page")
  })
})

describe("a source is a file", () => {
  test.for([
    ["a film", MP4, "video/mp4"],
    ["a film with the type of a page", MP4, "text/html"],
    ["a film with the type of a playlist", MP4, "application/vnd.apple.mpegurl"],
    ["a text", Buffer.from("hello"), "text/plain"],
    ["subtitles", Buffer.from("WEBVTT\n"), "text/vtt"],
    ["a picture of XML", Buffer.from('<?xml version="1.0"?><svg>'), "image/svg+xml"],
    ["another XML", Buffer.from("<tt>"), "application/ttml+xml"],
    ["a list of edits", Buffer.from("ffconcat version 1.0"), "application/octet-stream"],
  ] as const)("as %s", ([, head, type]) => {
    expect(detectSourceKind(head, type)).toBe("file")
  })

  test("for any first bytes, and fast", () => {
    for (const text of ["<!--".repeat(1000), "<?".repeat(2000), "<!doctype x [".repeat(300)]) {
      expect(detectSourceKind(Buffer.from(text), null)).toBe("file")
    }
  })
})
