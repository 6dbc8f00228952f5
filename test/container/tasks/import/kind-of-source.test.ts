import { describe, expect, test } from "vitest"
import { kindOfSource } from "../../../../container/tasks/import/kind-of-source.ts"

const MP4 = Buffer.from("\0\0\0\x20ftypisom", "latin1")
const MPD = '<?xml version="1.0"?>\n<!-- made -->\n<MPD xmlns="urn:mpeg:dash:schema:mpd:2011">'

describe("a source is a page", () => {
  test.for([
    ["a page", "<!DOCTYPE html><title>x</title>", "text/html"],
    ["a page behind blank lines and a comment", "\n\n <!-- x -->\n<html>", "text/html"],
    ["a page of XML", '<?xml version="1.0"?><!DOCTYPE html><html>', "application/xhtml+xml"],
    ["a page that is said to be bytes", "<!doctype html>", "application/octet-stream"],
    ["a page that is said to be a video", "<html><body>log in", "video/mp4"],
    ["a page of no type", "<html>", null],
    ["a fragment of a page", "<p>hello", "text/html"],
    ["a playlist", "#EXTM3U\n#EXT-X-VERSION:3", "application/vnd.apple.mpegurl"],
    ["a playlist with a mark", "\ufeff#EXTM3U\n", "audio/mpegurl"],
    ["a playlist that is said to be bytes", "#EXTM3U\n", "application/octet-stream"],
    ["a playlist that is said to be text", "#EXTM3U\n", "text/plain"],
    ["a manifest", MPD, "application/dash+xml"],
    ["a manifest that is said to be bytes", MPD, "application/octet-stream"],
    ["a manifest with a prefix", "<dash:MPD >", "application/xml"],
  ] as const)("as %s", ([, text, type]) => {
    expect(kindOfSource(Buffer.from(text), type)).toBe("page")
  })

  test("in UTF-16 too", () => {
    expect(kindOfSource(Buffer.from("\ufeff<html>", "utf16le"), null)).toBe("page")
  })
})

describe("a source is a file", () => {
  test.for([
    ["a film", MP4, "video/mp4"],
    ["a film that is said to be a page", MP4, "text/html"],
    ["a film that is said to be a playlist", MP4, "application/vnd.apple.mpegurl"],
    ["a text", Buffer.from("hello"), "text/plain"],
    ["subtitles", Buffer.from("WEBVTT\n"), "text/vtt"],
    ["a picture of XML", Buffer.from('<?xml version="1.0"?><svg>'), "image/svg+xml"],
    ["another XML", Buffer.from("<tt>"), "application/ttml+xml"],
    ["a list of edits", Buffer.from("ffconcat version 1.0"), "application/octet-stream"],
  ] as const)("as %s", ([, head, type]) => {
    expect(kindOfSource(head, type)).toBe("file")
  })

  test("whatever its first bytes are, in little time", () => {
    for (const text of ["<!--".repeat(1000), "<?".repeat(2000), "<!doctype x [".repeat(300)]) {
      expect(kindOfSource(Buffer.from(text), null)).toBe("file")
    }
  })
})
