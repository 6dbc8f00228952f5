import { Mime } from "mime"
import otherTypes from "mime/types/other.js"
import standardTypes from "mime/types/standard.js"
import { MEDIA_TYPE_OVERRIDES } from "../../src/contract/media-types.ts"

/** Converter between file extensions and media types. */
export const mediaTypeConverter = new Mime(standardTypes, otherTypes).define(
  MEDIA_TYPE_OVERRIDES,
  true,
)
