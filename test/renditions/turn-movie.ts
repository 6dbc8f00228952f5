/** The number 1 in fixed point, and in the last column of a matrix. */
const ONE = 0x1_0000
const ONE_AT_END = 0x4000_0000
/** Where the matrix is in a track's header of version 0, from its name on. */
const MATRIX_OFFSET = 44

/**
 * Turns the first track of a movie by quarters, clockwise, as the header of a phone's video says.
 */
export function turnMovie(quarters: 1 | 2 | 3, mirrors = false) {
  return (bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> => {
    const at = Buffer.from(bytes.buffer).indexOf("tkhd")
    if (at === -1) throw new Error("The movie has no track.")
    const made = bytes.slice()
    const view = new DataView(made.buffer)
    const cosine = Math.round(Math.cos((quarters * Math.PI) / 2))
    const sine = Math.round(Math.sin((quarters * Math.PI) / 2))
    const side = mirrors ? -1 : 1
    const matrix = [side * cosine, side * sine, 0, -sine, cosine, 0, 0, 0]
    for (const [index, value] of matrix.entries()) {
      view.setInt32(at + MATRIX_OFFSET + index * 4, value * ONE)
    }
    view.setInt32(at + MATRIX_OFFSET + matrix.length * 4, ONE_AT_END)
    return made
  }
}
