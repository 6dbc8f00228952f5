import { expect, onTestFinished, test } from "vitest"
import {
  restrictedFfmpegArguments,
  WHITELISTED_DECODERS,
  WHITELISTED_FORMATS,
} from "../../../../container/tools/ffmpeg/ffmpeg-arguments.ts"
import { makeVideo, startHarness } from "../../harness.ts"
import type { Harness } from "../../harness.ts"

const PLAYLIST = "#EXTM3U\n#EXT-X-TARGETDURATION:9\n#EXTINF:9,\nin_2.mp4\n#EXT-X-ENDLIST\n"
const LIST = "ffconcat version 1.0\nfile in_2.mp4\n"
const MANIFEST = `<?xml version="1.0"?>
<MPD xmlns="urn:mpeg:dash:schema:mpd:2011" profiles="urn:mpeg:dash:profile:isoff-live:2011"
  type="static" mediaPresentationDuration="PT9S" minBufferTime="PT1S">
<Period><AdaptationSet mimeType="video/mp4"><Representation id="1" bandwidth="1" codecs="avc1">
<BaseURL>in_2.mp4</BaseURL></Representation></AdaptationSet></Period></MPD>`
const SESSION = "v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nm=video 9 RTP/AVP 33\n"

async function openHarness(): Promise<Harness> {
  const harness = await startHarness()
  onTestFinished(async () => await harness.close())
  return harness
}

/** Stores a first input with this text and a second with a video; returns both for an order. */
async function addInputs(harness: Harness, text: string, name: string) {
  const bytes = new TextEncoder().encode(text)
  const video = await makeVideo()
  harness.io.inputs.set("in_1", bytes).set("in_2", video)
  return [
    { key: "in_1", name, size_bytes: bytes.length },
    { key: "in_2", name: "in_2.mp4", size_bytes: video.length },
  ]
}

test.for([
  ["hls", "in_1.mp4", PLAYLIST],
  ["hls", "in_1.m3u8", PLAYLIST],
  ["dash", "in_1.mp4", MANIFEST],
  ["concat", "in_1.mp4", LIST],
  ["sdp", "in_1.mov", SESSION],
] as const)("opens no file of a list in the format %s named %s", async (list) => {
  const [format, name, text] = list
  const harness = await openHarness()
  const inputs = await addInputs(harness, text, name)
  const [first] = inputs
  const probe = harness.order([["x"]], { work: { kind: "probe" }, inputs: first ? [first] : [] })
  expect(await harness.finish(probe)).toMatchObject({
    kind: "failed",
    failure: {
      code: "probe_failed",
      message: `The file is not media: it is a list of other files (${format}), which are not opened. Upload the media themselves.`,
    },
  })
  harness.io.reports.length = 0
  const command = harness.order(["-i in_1 -c copy out_1".split(" ")], { inputs })
  expect(await harness.finish(command)).toMatchObject({
    kind: "failed",
    blame: "caller",
    failure: { code: "invalid_input", message: expect.stringMatching(/list of (?:other )?files/) },
  })
})

test("reads a list after -f concat", async () => {
  const harness = await openHarness()
  const inputs = await addInputs(harness, LIST, "in_1.txt")
  const words = "-f concat -i in_1 -c copy out_1".split(" ")
  expect(await harness.finish(harness.order([words], { inputs }))).toMatchObject({
    kind: "finished",
    result: { outputs: [{ key: "out_1", probe: { width: 128 } }] },
  })
})

test("names a missing decoder", async () => {
  const harness = await openHarness()
  const words = "-f lavfi -i testsrc2=d=0.2:s=64x64 -c:v magicyuv mid.mkv".split(" ")
  const order = harness.order([words, "-i mid.mkv -c:v ffv1 {{out_1}}".split(" ")])
  expect(await harness.finish(order)).toMatchObject({
    kind: "failed",
    failure: {
      code: "decoder_not_found",
      message: 'Command 2 of 2: There is no decoder "magicyuv".',
    },
  })
})

test("puts whitelists before every input, with the format of its -f", () => {
  const words = restrictedFfmpegArguments(
    "-i a -f lavfi -i color -f concat -i list -i concat:a|b x.mp4".split(" "),
  )
  const guards = words.flatMap((word, index) =>
    word === "-i" ? [words.slice(index - 6, index)] : [],
  )
  const formats = WHITELISTED_FORMATS.join(",")
  expect(guards.map(([, protocols, , allowed]) => [protocols, allowed])).toEqual([
    ["file", formats],
    ["file", `${formats},lavfi`],
    ["file", `${formats},concat`],
    ["file,concat", formats],
  ])
  expect(guards.map((guard) => guard.slice(4))).toEqual(
    guards.map(() => ["-codec_whitelist", WHITELISTED_DECODERS.join(",")]),
  )
})
