import { execFile } from "node:child_process"
import { promisify } from "node:util"

const run = promisify(execFile)

const RATE = 48_000
const BLOCK = RATE * 0.4
const STEP = BLOCK / 4
/** Filters of ITU-R BS.1770-4 at 48 kHz: b0, b1, b2, a1, a2. */
const SHELF = [
  1.53512485958697, -2.69169618940638, 1.19839281085285, -1.69065929318241, 0.73248077421585,
]
const HIGH_PASS = [1, -2, 1, -1.99004745483398, 0.99007225036621]
/** Weights of the channels of 5.1: left, right, centre, LFE and two surrounds. */
const SURROUND = [1, 1, 1, 0, 1.41, 1.41]
const DECODED_BYTES_MAX = 256 * 1024 * 1024

/**
 * Measures integrated loudness in LUFS by the standard, independently of the runner and of ffmpeg's
 * meters.
 */
export async function measureIntegrated(path: string, stream = 0, channels = 2): Promise<number> {
  const argv = `-v error -nostdin -i ${path} -map 0:a:${stream} -ar ${RATE} -f f32le -`.split(" ")
  const options = { encoding: "buffer" as const, maxBuffer: DECODED_BYTES_MAX }
  const { stdout } = await run("ffmpeg", argv, options)
  const samples = new Float32Array(
    stdout.buffer.slice(stdout.byteOffset, stdout.byteOffset + stdout.byteLength),
  )
  const powers = Array.from({ length: channels }, (_, channel) => {
    const own = samples.filter((_sample, index) => index % channels === channel)
    return blockPowers(filter(filter(Float64Array.from(own), SHELF), HIGH_PASS))
  })
  const weights = channels === SURROUND.length ? SURROUND : powers.map(() => 1)
  const blocks = (powers[0] ?? []).map((_, block) =>
    powers.reduce((sum, own, channel) => sum + (weights[channel] ?? 1) * (own[block] ?? 0), 0),
  )
  const loud = blocks.filter((power) => loudnessOf(power) > -70)
  const gate = loudnessOf(mean(loud)) - 10
  return loudnessOf(mean(loud.filter((power) => loudnessOf(power) > gate)))
}

function filter(
  samples: Float64Array,
  [b0 = 0, b1 = 0, b2 = 0, a1 = 0, a2 = 0]: number[],
): Float64Array {
  let [x1, x2, y1, y2] = [0, 0, 0, 0]
  return samples.map((x) => {
    const y = b0 * x + b1 * x1 + b2 * x2 - a1 * y1 - a2 * y2
    ;[x2, x1, y2, y1] = [x1, x, y1, y]
    return y
  })
}

function blockPowers(samples: Float64Array): number[] {
  const count = Math.max(0, Math.floor((samples.length - BLOCK) / STEP) + 1)
  return Array.from({ length: count }, (_, block) => {
    const part = samples.subarray(block * STEP, block * STEP + BLOCK)
    return part.reduce((sum, sample) => sum + sample * sample, 0) / BLOCK
  })
}

function loudnessOf(power: number): number {
  return -0.691 + 10 * Math.log10(power)
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}
