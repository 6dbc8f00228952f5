/** The longer and the shorter side of each size's box. */
export const BOXES = {
  "480p": [854, 480],
  "720p": [1280, 720],
  "1080p": [1920, 1080],
  "4k": [3840, 2160],
} as const
