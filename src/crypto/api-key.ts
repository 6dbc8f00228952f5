import { sha256Hex } from "./sha256.ts"
import { sign } from "./signature.ts"

const PREFIX = "lathe_"
const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
const RANDOM_LENGTH = 24
/** Base62 characters by which a service knows its own keys: more than anybody can try. */
const MARK_LENGTH = 10
const CHECKSUM_LENGTH = 6
const KEY_PATTERN = /^lathe_[0-9A-Za-z]{40}$/
const PURPOSE = "api-key"

/** A text that has the shape of an API key: `lathe_`, 34 base62 characters and their CRC-32 in 6 more. */
export function makeKey(body = randomText(RANDOM_LENGTH + MARK_LENGTH)): string {
  const text = PREFIX + body
  return text + checksum(text)
}

/** A new API key of a service: 24 random characters, and their mark under the service's secret. */
export async function makeOwnKey(secret: string): Promise<string> {
  const random = randomText(RANDOM_LENGTH)
  return makeKey(random + (await markOf(secret, random)))
}

/**
 * Whether a text that has the shape of a key bears the mark of this service: it was made here, if it
 * counts or not. Keys that were made under another secret bear another mark.
 */
export async function isOwnKey(secret: string, key: string): Promise<boolean> {
  const random = key.slice(PREFIX.length, PREFIX.length + RANDOM_LENGTH)
  const mark = key.slice(PREFIX.length + RANDOM_LENGTH, -CHECKSUM_LENGTH)
  return isSame(mark, await markOf(secret, random))
}

/** Takes the same time wherever they differ, so that nobody finds a mark character by character. */
function isSame(one: string, other: string): boolean {
  let differing = one.length ^ other.length
  for (let at = 0; at < one.length; at += 1) differing |= one.charCodeAt(at) ^ other.charCodeAt(at)
  return differing === 0
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

async function markOf(secret: string, random: string): Promise<string> {
  const signature = await sign(secret, PURPOSE, random)
  // Characters that base62 lacks become others, which costs a mark next to nothing.
  return signature.replaceAll("-", "a").replaceAll("_", "b").slice(0, MARK_LENGTH)
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
