import { describe, expect, it } from "vitest"
import { makeDemoCommands } from "../../scripts/demo/command/recipe.ts"

const video = { index: 0, codec_type: "video", codec_name: "h264" }
const audio = { index: 1, codec_type: "audio", codec_name: "aac" }
const cover = { ...video, disposition: { attached_pic: 1 } }

function recipesOf(streams: Record<string, unknown>[], facts: object = {}) {
  return makeDemoCommands({ format_name: "mov,mp4", duration: 10, streams, format: {}, ...facts })
}

describe("the demo's recipe", () => {
  it("changes picture and sound, first with a title and then without", () => {
    const [titled, framed, ...more] = recipesOf([video, audio], { width: 640 })
    expect(titled?.command).toMatch(/^ffmpeg -ss 1 -i \{\{in_1\}\} .* \{\{out_1\}\}$/)
    expect(titled?.command).toMatch(/-map 0:0 -vf "scale=480:-2,drawtext.* -map 0:1 -af loudnorm/)
    expect(framed?.command).toMatch(/drawbox/)
    expect(framed?.command).not.toMatch(/drawtext/)
    expect(titled?.outputName).toBe("lathe-demo-output.mp4")
    expect(more).toEqual([])
  })

  it("omits streams that a file lacks", () => {
    expect(recipesOf([video])[0]?.command).not.toContain("-af")
    const [sound] = recipesOf([cover, audio])
    expect(sound?.command).not.toContain("-vf")
    expect(sound?.command).toContain("-map 0:1")
    expect(sound?.outputName).toBe("lathe-demo-output.m4a")
    expect(recipesOf([{ index: 0, codec_type: "subtitle" }])).toEqual([])
  })

  it("makes a single picture of a picture", () => {
    const [still] = recipesOf([video], { format_name: "png_pipe", duration: undefined })
    expect(still?.command).toContain("-frames:v 1")
    expect(still?.command).not.toMatch(/-ss|-t /)
    expect(still?.outputName).toBe("lathe-demo-output.png")
  })

  it("keeps the beginning of short media and twenty seconds of long ones", () => {
    expect(recipesOf([audio], { duration: 2 })[0]?.command).toMatch(/^ffmpeg -i /)
    expect(recipesOf([audio], { duration: 60 })[0]?.command).toMatch(/^ffmpeg -ss 1 -t 20 -i /)
  })

  it("needs no quoting between single quotes of a shell", () => {
    for (const { command } of recipesOf([video, audio])) expect(command).not.toContain("'")
  })
})
