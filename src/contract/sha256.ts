import { z } from "zod"

/** SHA-256 of a file, in hexadecimal. */
export const sha256HexSchema = z.string().regex(/^[0-9a-f]{64}$/)
