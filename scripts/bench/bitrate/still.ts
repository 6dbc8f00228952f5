/**
 * A still whose statistics are those of photographs: leaves of every size that lie on one another
 * (Lee, Mumford and Huang, "Occlusion models for natural images", 2001), each with a texture and a
 * light of its own. The same for the same sides.
 */
export function drawStill(width: number, height: number): Uint8Array {
  const random = openRandom(20_011)
  const header = new TextEncoder().encode(`P6\n${width} ${height}\n255\n`)
  const image = new Uint8Array(header.byteLength + width * height * 3)
  image.set(header)
  const pixels = image.subarray(header.byteLength)
  const leaves = Math.round((width * height * COVERAGE) / MEAN_AREA)
  pixels.fill(96)
  for (let drawn = 0; drawn < leaves; drawn += 1) {
    drawLeaf({ pixels, width, height }, makeLeaf(random, width, height))
  }
  return image
}

const RADIUS = { min: 14, max: 900 }
/** How often a place is covered on average; what lies at the bottom is seen nowhere. */
const COVERAGE = 5
const MEAN_AREA =
  (2 * Math.PI * RADIUS.min ** 2 * Math.log(RADIUS.max / RADIUS.min)) /
  (1 - (RADIUS.min / RADIUS.max) ** 2)

type Canvas = { pixels: Uint8Array; width: number; height: number }
type Leaf = {
  x: number
  y: number
  radius: number
  color: readonly number[]
  contrast: number
  /** The waves of its texture, by their steps across and down. */
  waves: readonly (readonly [number, number])[]
}

function makeLeaf(random: () => number, width: number, height: number): Leaf {
  const { min, max } = RADIUS
  // Numbers of leaves that fall with the cube of the size look the same at every distance.
  const radius = min / Math.sqrt(1 - random() * (1 - (min / max) ** 2))
  const light = 30 + 190 * random()
  return {
    x: random() * width,
    y: random() * height,
    radius,
    color: [0, 1, 2].map(() => light + 50 * (random() - 0.5)),
    contrast: 4 + 26 * random() ** 2,
    waves: [0, 1, 2].map(() => {
      const frequency = 0.02 * 40 ** random()
      const angle = 2 * Math.PI * random()
      return [frequency * Math.cos(angle), frequency * Math.sin(angle)]
    }),
  }
}

function drawLeaf({ pixels, width, height }: Canvas, leaf: Leaf): void {
  const { x, y, radius, color, contrast, waves } = leaf
  const bottom = Math.min(height - 1, Math.floor(y + radius))
  for (let row = Math.max(0, Math.ceil(y - radius)); row <= bottom; row += 1) {
    const half = Math.sqrt(radius ** 2 - (row - y) ** 2)
    const right = Math.min(width - 1, Math.floor(x + half))
    for (let column = Math.max(0, Math.ceil(x - half)); column <= right; column += 1) {
      let texture = (25 * (column - x + row - y)) / radius
      for (const [across, down] of waves) {
        texture += contrast * Math.sin(across * column + down * row)
      }
      const at = (row * width + column) * 3
      for (let part = 0; part < 3; part += 1) {
        pixels[at + part] = Math.min(255, Math.max(0, (color[part] ?? 0) + texture))
      }
    }
  }
}

/** Numbers from 0 to 1, the same for the same seed (mulberry32). */
function openRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d_2b_79_f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
