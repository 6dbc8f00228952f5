import { sha256Hex } from "./sha256.ts"
import { signText } from "./signature.ts"

const PREFIX = "lathe_"
const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
const RANDOM_LENGTH = 24
/**
 * Length of a key's mark in base62 characters. The mark is a truncated HMAC that proves that this
 * service issued the key. Nobody can guess a mark of this length.
 */
const MARK_LENGTH = 10
const CHECKSUM_LENGTH = 6
const KEY_PATTERN = /^lathe_[0-9A-Za-z]{40}$/
const PURPOSE = "api-key"

/**
 * Builds an API key from its body of 34 base62 characters. Prepends `lathe_`, and appends the
 * CRC-32 of prefix and body as 6 base62 characters.
 */
export function assembleApiKey(body = randomText(RANDOM_LENGTH + MARK_LENGTH)): string {
  const text = PREFIX + body
  return text + checksum(text)
}

/**
 * Creates an API key: 24 random characters, and a mark, which is the HMAC of those characters under
 * the service's secret.
 */
export async function generateApiKey(secret: string): Promise<string> {
  const random = randomText(RANDOM_LENGTH)
  return assembleApiKey(random + (await markOf(secret, random)))
}

/**
 * Reports whether a well-formed API key was issued under this secret, as the key's mark proves. The
 * key may be revoked.
 */
export async function isIssuedApiKey(secret: string, key: string): Promise<boolean> {
  const random = key.slice(PREFIX.length, PREFIX.length + RANDOM_LENGTH)
  const mark = key.slice(PREFIX.length + RANDOM_LENGTH, -CHECKSUM_LENGTH)
  return isSame(mark, await markOf(secret, random))
}

/**
 * Compares two texts in constant time, so that nobody can guess a mark character by character from
 * response times.
 */
function isSame(one: string, other: string): boolean {
  let differing = one.length ^ other.length
  for (let at = 0; at < one.length; at += 1) differing |= one.charCodeAt(at) ^ other.charCodeAt(at)
  return differing === 0
}

/**
 * Reports whether a text has the format of an API key and a valid checksum. Detects typing errors
 * without a read of D1.
 */
export function hasApiKeyFormat(text: string): boolean {
  if (!KEY_PATTERN.test(text)) return false
  const body = text.slice(0, -CHECKSUM_LENGTH)
  return checksum(body) === text.slice(-CHECKSUM_LENGTH)
}

/**
 * Returns the SHA-256 of an API key, in hexadecimal. The service stores only this hash and the
 * key's first characters.
 */
export async function hashApiKey(key: string): Promise<string> {
  return await sha256Hex(key)
}

/**
 * Returns the first characters of a key, which the service shows so that people can distinguish
 * their keys.
 */
export function visibleKeyPrefix(key: string): string {
  return key.slice(0, 8)
}

async function markOf(secret: string, random: string): Promise<string> {
  const signature = await signText(secret, PURPOSE, random)
  // Replaces the two base64url characters that base62 lacks by letters. The mark stays nearly as
  // hard to guess.
  return signature.replaceAll("-", "a").replaceAll("_", "b").slice(0, MARK_LENGTH)
}

function randomText(length: number): string {
  const characters: string[] = []
  while (characters.length < length) {
    for (const byte of crypto.getRandomValues(new Uint8Array(length))) {
      // Skips bytes from 248 on. Because 256 is no multiple of 62, these bytes would make some
      // characters more likely than others.
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
