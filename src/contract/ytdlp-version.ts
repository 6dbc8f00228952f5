import { z } from "zod"

/** Release of yt-dlp, with the SHA-256 of its wheel in lower-case hexadecimal. */
export type YtdlpVersion = { version: string; sha256: string }

const EXPECTED =
  'expected one version and the SHA-256 of its wheel, as "2026.10.26 sha256:<64 hexadecimal digits>"'
const FORM = /^(\d{4}(?:\.\d{1,6}){2,3}(?:\.dev\d+)?)[ \t]+sha256:([0-9a-f]{64})$/i

/**
 * Schema of the setting YTDLP_VERSION. Leading zeros as in 2026.08.19 are ignored, as pip ignores
 * them in the names of wheels.
 */
export const ytdlpVersionSchema = z.string().transform((text, context): YtdlpVersion => {
  const [, version, sha256] = FORM.exec(text.trim()) ?? []
  if (version !== undefined && sha256 !== undefined) {
    return { version: normalizeYtdlpVersion(version), sha256: sha256.toLowerCase() }
  }
  context.addIssue({ code: "custom", message: EXPECTED })
  return z.NEVER
})

/** Normalizes a version of yt-dlp as pip does: 2026.08.19 becomes 2026.8.19. */
export function normalizeYtdlpVersion(version: string): string {
  return version.replaceAll(/(?<=^|\.)0+(?=\d)/g, "")
}
