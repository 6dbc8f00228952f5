import { describe, expect, test } from "vitest"
import image from "../../../../src/kinds/command/facts/image.json" with { type: "json" }
import { createCapabilities } from "../../../../src/kinds/command/facts/capabilities.ts"
import type { FfmpegCapabilities } from "../../../../src/kinds/command/facts/capabilities.ts"
import { findCommandFaults } from "../../../../src/kinds/command/request-faults.ts"

const capabilities = createCapabilities(image)
const OPTIONS = 1900
const COMMANDS = 3
const FAULTS_MAX = 100

/**
 * Returns the faults of a command with many such words, and the number of lookups in ffmpeg's data.
 */
function judgeMany(words: (place: number) => string, times = OPTIONS) {
  const asked: string[] = []
  const counted: FfmpegCapabilities = {
    version: capabilities.version,
    find(table, name) {
      asked.push(table)
      return capabilities.find(table, name)
    },
    names(of) {
      asked.push(of)
      return capabilities.names(of)
    },
  }
  const line = `ffmpeg -i {{in_1}} ${Array.from({ length: times }, (_, place) => words(place)).join(" ")} {{out_1}}`
  const request = {
    ffmpeg_commands: Array.from({ length: COMMANDS }, () => line),
    input_files: { in_1: "svc_id://00000000-0000-4000-8000-000000000000" },
    output_files: { out_1: "out.wav" },
  }
  const faults = findCommandFaults(request, [], new Set(), { ffmpeg: counted })
  return { faults, asked: (of: string) => asked.filter((each) => each === of).length }
}

describe("a command with thousands of options", () => {
  test.for<[string, (place: number) => string]>([
    ["of the format", (place) => `-metadata a=${place}`],
    ["of a stream", () => "-map 0:a"],
    ["of an encoder", (place) => `-b:a ${place}k`],
  ])("looks up the format and encoders of its output once: %s", ([, words]) => {
    const { faults, asked } = judgeMany(words)
    expect(faults).toEqual([])
    expect(asked("muxers")).toBeLessThan(10 * COMMANDS)
  })

  test.for<[string, (place: number) => string, number?]>([
    ["options", (place) => `-qualitx${place} 1`],
    ["encoders", (place) => `-c:a libx${place}`],
    ["values", (place) => `-pix_fmt yuvx${place}`],
    ["lists", (place) => `-disposition:${place} defaulx`],
    ["streams", (place) => `-map ${place + 1}:a`],
    ["keys", (place) => `-metadata a={{in_x${place}}}`],
    ["formats", (place) => `-f wax${place} o${place}.wav`, 60],
    ["filters", (place) => `-af ${"anulx,".repeat(20)}anulx${place}`, 300],
    ["filters of one graph", () => `-af ${listOf(900, "anulx", ",")}`, 1],
    [
      "labels",
      () => `-filter_complex ${listOf(600, "sine[a", ";")} ${listOf(600, "-map [b", " ")}`,
      1,
    ],
  ])("stops judging at the limit of refusals, for unknown %s", ([, words, times]) => {
    const { faults } = judgeMany(words, times)
    expect(faults).toHaveLength(FAULTS_MAX)
  })
})

/** Returns numbered words; words that open a label close it. */
function listOf(length: number, word: string, between: string): string {
  return Array.from(
    { length },
    (_, place) => `${word}${place}${word.includes("[") ? "]" : ""}`,
  ).join(between)
}

test("a command above the limit of files is not judged by ffmpeg's capabilities", () => {
  const { faults, asked } = judgeMany((place) => `-c:a nosuch o${place}.wav`, 600)
  expect(new Set(faults.map(({ code }) => code))).toEqual(new Set(["too_many_outputs"]))
  expect(asked("encoders")).toBe(0)
})
