import { toHex } from "./hex.ts"

/** Returns the SHA-256 of a text. */
export async function sha256(text: string): Promise<ArrayBuffer> {
  return await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text))
}

/** Returns the SHA-256 of a text, in hexadecimal. */
export async function sha256Hex(text: string): Promise<string> {
  return toHex(await sha256(text))
}
