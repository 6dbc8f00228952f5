import { sha256Hex } from "./sha256.ts"
import { toBase64Url } from "./signature.ts"

const TOKEN_BYTES = 32

/** Creates the random token of a link that is sent by mail, for example to sign in. */
export function makeMailLinkToken(): string {
  return toBase64Url(crypto.getRandomValues(new Uint8Array(TOKEN_BYTES)))
}

/**
 * Returns the SHA-256 of a mailed link's token, in hexadecimal. The service stores only this hash.
 */
export async function hashMailLinkToken(token: string): Promise<string> {
  return await sha256Hex(token)
}
