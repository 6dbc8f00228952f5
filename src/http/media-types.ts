import { Mime } from "mime"
import otherTypes from "mime/types/other.js"
import standardTypes from "mime/types/standard.js"
import { OWN_MEDIA_TYPES } from "../contract/media-types.ts"

/** Media types by the names of files. */
export const mediaTypes = new Mime(standardTypes, otherTypes).define(OWN_MEDIA_TYPES, true)
