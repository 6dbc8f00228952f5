import { sha256Hex } from "./sha256.ts"

const PREFIX = "lathe_"
const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
const RANDOM_LENGTH = 34
const CHECKSUM_LENGTH = 6
const KEY_PATTERN = /^lathe_[0-9A-Za-z]{40}$/

/** A new API key: `lathe_`, 34 random base62 characters and their CRC-32 in 6 more. */
export function makeKey(): string {
  const body = PREFIX + randomText(RANDOM_LENGTH)
  return body + checksum(body)
}

/** Whether a text can be a key at all; a typo fails here, without a look-up. */
export function hasKeyShape(text: string): boolean {
  if (!KEY_PATTERN.test(text)) return false
  const body = text.slice(0, -CHECKSUM_LENGTH)
  return checksum(body) === text.slice(-CHECKSUM_LENGTH)
}

/** SHA-256 of a key, hexadecimal: all that is stored of it besides its first characters. */
export async function hashKey(key: string): Promise<string> {
  return await sha256Hex(key)
}

/** The part of a key that a person may see again, to tell keys apart. */
export function prefixOf(key: string): string {
  return key.slice(0, 8)
}

function randomText(length: number): string {
  const characters: string[] = []
  while (characters.length < length) {
    for (const byte of crypto.getRandomValues(new Uint8Array(length))) {
      // Bytes from 248 on would make some characters likelier than others.
      if (byte < 248 && characters.length < length) characters.push(ALPHABET.charAt(byte % 62))
    }
  }
  return characters.join("")
}

function checksum(text: string): string {
  let rest = crc32(new TextEncoder().encode(text))
  let digits = ""
  for (let index = 0; index < CHECKSUM_LENGTH; index += 1) {
    digits = ALPHABET.charAt(rest % 62) + digits
    rest = Math.floor(rest / 62)
  }
  return digits
}

function crc32(bytes: Uint8Array): number {
  let crc = 0xffffffff
  for (const byte of bytes) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit += 1) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1
  }
  return (crc ^ 0xffffffff) >>> 0
}
