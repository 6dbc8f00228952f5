import { escapeHtml } from "../visit.ts"
import type { LinkingBody } from "../way.ts"

/** DASH manifests that contain a URL. */
export const DASH_BODIES_WITH_LINK: Record<string, LinkingBody> = {
  "dash-base": mpd((to) => ({
    base: to,
    inside: '<SegmentList><SegmentURL media="clip.mp4"/></SegmentList>',
  })),
  "dash-segment": mpd((to) => ({
    inside: `<SegmentList duration="6"><SegmentURL media="${to}"/></SegmentList>`,
  })),
  "dash-entity": {
    ...mpd(() => ({})),
    write(to) {
      const entity = `<!DOCTYPE MPD [<!ENTITY x SYSTEM "${escapeHtml(to)}">]>`
      return `<?xml version="1.0"?>${entity}${manifest({ inside: "<BaseURL>&x;</BaseURL>" })}`
    },
  },
}

type Parts = { base?: string; inside?: string }

function mpd(write: (to: string) => Parts): LinkingBody {
  return {
    type: "application/dash+xml",
    write: (to) => `<?xml version="1.0"?>\n${manifest(write(escapeHtml(to)))}`,
  }
}

function manifest({ base, inside = "" }: Parts): string {
  return [
    '<MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static" mediaPresentationDuration="PT6S"',
    ' profiles="urn:mpeg:dash:profile:isoff-on-demand:2011">',
    base === undefined ? "" : `<BaseURL>${base}</BaseURL>`,
    '<Period><AdaptationSet contentType="video" mimeType="video/mp4">',
    '<Representation id="1" codecs="avc1.42c01f" width="640" height="360" bandwidth="360000">',
    `${inside}</Representation></AdaptationSet></Period></MPD>`,
    "",
  ].join("\n")
}
