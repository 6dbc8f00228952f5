import { execFileSync } from "node:child_process"
import { expect, test } from "vitest"
import { findMediaTools } from "../../../scripts/cli/media-tools.ts"
import { readOptionClasses } from "../../../scripts/ffmpeg/read-help.ts"

function help(...words: string[]): string {
  const argv = ["-hide_banner", "-h", ...words]
  return execFileSync(findMediaTools().ffmpeg, argv, { encoding: "utf8", maxBuffer: 2 ** 24 })
}

test("options of a filter are parsed in order, with their aliases and ranges", () => {
  const [scale] = readOptionClasses(help("filter=scale"))
  expect(scale?.name).toMatch(/^scale\b/)
  expect(scale?.options.slice(0, 2)).toEqual(["w=width:s", "h=height:s"])
  const [transpose] = readOptionClasses(help("filter=transpose"))
  expect(transpose?.options[0]).toMatch(/^dir:i:0:7\|cclock_flip\|clock\|cclock\|clock_flip$/)
})

test("options of an encoder and of a muxer are for outputs", () => {
  const [aac] = readOptionClasses(help("encoder=aac"))
  expect(aac?.options[0]).toMatch(/^aac_coder:iE:0:[12]\|anmr\|twoloop\|fast/)
  const [mp4] = readOptionClasses(help("muxer=mp4"))
  expect(mp4?.options.find((option) => option.startsWith("movflags"))).toMatch(
    /^movflags:gE.*\|faststart/,
  )
})

test("options of a library name the sides that they are for", () => {
  const classes = readOptionClasses(help("full"))
  const format = classes.find(({ name }) => name === "AVFormatContext")
  expect(format?.options).toContain("probesize:iD:32")
})
