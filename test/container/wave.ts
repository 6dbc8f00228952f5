const HEADER_BYTES = 44

/**
 * Returns the header of a WAV file with one channel of 8-bit samples; `sampleBytes` is their size.
 */
export function waveHeader(sampleBytes: number, rateHz: number): Buffer {
  const header = Buffer.alloc(HEADER_BYTES)
  header.write("RIFF", 0)
  header.writeUInt32LE(HEADER_BYTES - 8 + sampleBytes, 4)
  header.write("WAVEfmt ", 8)
  header.writeUInt32LE(16, 16)
  header.writeUInt16LE(1, 20)
  header.writeUInt16LE(1, 22)
  header.writeUInt32LE(rateHz, 24)
  header.writeUInt32LE(rateHz, 28)
  header.writeUInt16LE(1, 32)
  header.writeUInt16LE(8, 34)
  header.write("data", 36)
  header.writeUInt32LE(sampleBytes, 40)
  return header
}
