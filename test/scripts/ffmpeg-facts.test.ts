import { execFileSync } from "node:child_process"
import { expect, test } from "vitest"
import { mediaTools } from "../../scripts/local/media-tools.ts"
import { readClasses } from "../../scripts/ffmpeg/read-help.ts"

function help(...words: string[]): string {
  const argv = ["-hide_banner", "-h", ...words]
  return execFileSync(mediaTools().ffmpeg, argv, { encoding: "utf8", maxBuffer: 2 ** 24 })
}

test("options of a filter are read in their order, with their other names and ranges", () => {
  const [scale] = readClasses(help("filter=scale"))
  expect(scale?.name).toMatch(/^scale\b/)
  expect(scale?.options.slice(0, 2)).toEqual(["w=width:s", "h=height:s"])
  const [transpose] = readClasses(help("filter=transpose"))
  expect(transpose?.options[0]).toMatch(/^dir:i:0:7\|cclock_flip\|clock\|cclock\|clock_flip$/)
})

test("options of an encoder and of a muxer are for outputs", () => {
  const [aac] = readClasses(help("encoder=aac"))
  expect(aac?.options[0]).toMatch(/^aac_coder:iE:0:[12]\|anmr\|twoloop\|fast/)
  const [mp4] = readClasses(help("muxer=mp4"))
  expect(mp4?.options.find((option) => option.startsWith("movflags"))).toMatch(
    /^movflags:gE.*\|faststart/,
  )
})

test("a library's own options say for which side they are", () => {
  const classes = readClasses(help("full"))
  const format = classes.find(({ name }) => name === "AVFormatContext")
  expect(format?.options).toContain("probesize:iD:32")
})
