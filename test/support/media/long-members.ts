import { BUNDLE_MEMBERS_MAX } from "../../../src/contract/bundle.ts"
import type { BundleMember } from "../../../src/contract/bundle.ts"

/**
 * Returns members of a bundle that need much space as JSON: their names consist of quotes, which
 * JSON escapes, and their content types are near the maximum length.
 */
export function makeLongBundleMembers(count = BUNDLE_MEMBERS_MAX): BundleMember[] {
  return Array.from({ length: count }, (_, index) => ({
    name: `${'"'.repeat(75)}${index}`,
    size_bytes: 1,
    content_type: `image/${"x".repeat(190)}`,
    crc32: 0xffff_ffff,
  }))
}
