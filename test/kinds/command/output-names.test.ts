import { describe, expect, test } from "vitest"
import { findOutputNameError, draftTaskOutputs } from "../../../src/kinds/command/output-names.ts"

/** Returns the name in the workspace of an output of the command `-i in_1 out_1`. */
function nameOf(name: string, words = ["-i", "in_1", "out_1"]): string | undefined {
  const [output] = draftTaskOutputs([{ key: "out_1", name }], [words])
  return output?.workspace_name ?? output?.name
}

describe("a name is safe for every tool in the workspace", () => {
  test.for<[string, string]>([
    ["film.mp4", "film.mp4"],
    ["My film (2) + more_@home.mp4", "My film (2) + more_@home.mp4"],
    ["日本.mp4", "日本.mp4"],
    ["it's.mp4", "it_s.mp4"],
    ["Q&A.mp4", "Q_A.mp4"],
    ["50% off.mp4", "50_ off.mp4"],
    ["100%%.mp4", "100_.mp4"],
    ["a,b;c:d[e]=f'g\"h#i|j*k?l<m>n.mp4", "a_b_c_d_e__f_g_h_i_j_k_l_m_n.mp4"],
    ["-i.mp4", "_i.mp4"],
    [".hidden.mp4", "_hidden.mp4"],
    ["a.", "a_"],
    ["50% off.m3u8", "50_ off.m3u8"],
    ["frame_%03d.png", "frame_%03d.png"],
    ["%03d.png", "%03d.png"],
    ["50% off %03d.png", "50%% off %03d.png"],
    ["50%% off %03d.png", "50%% off %03d.png"],
    ["it's_%v.m3u8", "it_s_%v.m3u8"],
    ["-%d.png", "_%d.png"],
    ["%Y.png", "_Y.png"],
  ])("%s is %s", ([name, safe]) => {
    expect(nameOf(name)).toBe(safe)
    expect(findOutputNameError({ name })).toBe(null)
  })

  test("and within the length of a file name", () => {
    const name = `${"日".repeat(196)}.mp4`
    expect(findOutputNameError({ name })).toBe(null)
    expect(nameOf(name)).toBe(`${"日".repeat(60)}.mp4`)
  })
})

test("names that become the same in the workspace are told apart", () => {
  const names = ["a'b.mp4", "a&b.mp4", "a_b.mp4"].map((name, index) => ({
    key: `o_${index}`,
    name,
  }))
  expect(draftTaskOutputs(names, []).map((output) => output.workspace_name)).toEqual([
    "o_0_a_b.mp4",
    "o_1_a_b.mp4",
    undefined,
  ])
})

describe("the letters of strftime are a pattern", () => {
  test.for<[string, boolean]>([
    ["-i in_1 -strftime 1 out_1", true],
    ["-i in_1 -strftime 1 {{out_1}}", true],
    ["-i in_1 -f hls -strftime 1 -hls_segment_filename out_1 list.m3u8", true],
    ["-i in_1 -strftime 0 out_1", false],
    ["-i in_1 -strftime 1 other.mp4 out_1", false],
    ["-strftime 1 -i in_1 out_1", false],
  ])("in %s: %s", ([line, isTimed]) => {
    const [output] = draftTaskOutputs([{ key: "out_1", name: "%Y-%m.png" }], [line.split(" ")])
    expect(output?.has_times).toBe(isTimed ? true : undefined)
    expect(output?.workspace_name).toBe(isTimed ? undefined : "_Y-_m.png")
  })

  test("but not in the name of a playlist, which no muxer reads as a pattern", () => {
    expect(nameOf("%Y.m3u8", "-f hls -strftime 1 out_1".split(" "))).toBe("_Y.m3u8")
  })
})

describe("a name is refused", () => {
  test.for([
    ["a/b.mp4", "without a folder"],
    ["a\\b.mp4", "without a folder"],
    ["a\nb.mp4", "without control characters"],
    [" a.mp4", "white space at its ends"],
    ["..", "up to 200 characters"],
    ["x".repeat(201), "up to 200 characters"],
    ["\ud800.mp4", "without control characters"],
    ["%d_%d_%d.png", "at most 2 fields"],
    [`${"日".repeat(80)}%d.png`, "at most 240 bytes"],
  ])("%j: %s", ([name, reason]) => {
    expect(findOutputNameError({ name: name ?? "" })).toContain(reason)
  })
})
