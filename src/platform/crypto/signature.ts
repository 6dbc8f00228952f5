type SigningKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>

const keys = new Map<string, Promise<SigningKey>>()

/**
 * Returns the HMAC-SHA-256 of a text and its purpose under a secret, in base64url. A signature for
 * one purpose is invalid for every other purpose.
 */
export async function signText(secret: string, purpose: string, text: string): Promise<string> {
  const key = await keyOf(secret)
  const mac = await crypto.subtle.sign("HMAC", key, encode(`${purpose}\n${text}`))
  return toBase64Url(new Uint8Array(mac))
}

/** Reports whether a signature of a text is valid. Compares signatures in constant time. */
export async function verifyTextSignature(
  secret: string,
  purpose: string,
  signed: { text: string; signature: string },
): Promise<boolean> {
  const mac = fromBase64Url(signed.signature)
  if (!mac) return false
  const key = await keyOf(secret)
  return await crypto.subtle.verify("HMAC", key, mac, encode(`${purpose}\n${signed.text}`))
}

/**
 * Maximum number of bytes per call of `String.fromCharCode`, because JavaScript engines limit the
 * number of arguments.
 */
const PIECE_BYTES = 4096

export function toBase64Url(bytes: Uint8Array): string {
  const pieces: string[] = []
  for (let at = 0; at < bytes.byteLength; at += PIECE_BYTES) {
    pieces.push(String.fromCharCode(...bytes.subarray(at, at + PIECE_BYTES)))
  }
  const binary = pieces.join("")
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")
}

/** Decodes base64url. Returns null if the text is malformed. */
export function fromBase64Url(text: string): Uint8Array<ArrayBuffer> | null {
  if (!/^[A-Za-z0-9_-]*$/.test(text)) return null
  try {
    const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"))
    const bytes = new Uint8Array(binary.length)
    for (let at = 0; at < binary.length; at += 1) bytes[at] = binary.charCodeAt(at)
    return toBase64Url(bytes) === text ? bytes : null
  } catch {
    return null
  }
}

function keyOf(secret: string): Promise<SigningKey> {
  const cached = keys.get(secret)
  if (cached) return cached
  const key = crypto.subtle.importKey(
    "raw",
    encode(secret),
    { name: "HMAC", hash: "SHA-256" },
    false,
    ["sign", "verify"],
  )
  keys.set(secret, key)
  return key
}

function encode(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(new TextEncoder().encode(text))
}
