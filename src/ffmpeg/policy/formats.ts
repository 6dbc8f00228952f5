import { indexRefusalReasonsByName } from "./refusal.ts"
import type { RefusalReason, RefusalReasonGroup } from "./refusal.ts"

const DEVICES =
  "alsa android_camera audiotoolbox avfoundation bktr caca dc1394 decklink dshow fbdev gdigrab iec61883 jack kmsgrab libcdio libdc1394 ndi_newtek libndi_newtek openal opengl oss pulse sdl sdl2 sndio v4l2 vfwcap video4linux2 x11grab xcbgrab xv"

const DEVICE: RefusalReasonGroup = {
  names: DEVICES,
  why: "is a device, and a command has none",
  instead: "read from an input or from -f lavfi, and write to an output",
}

const REFUSED_INPUTS: readonly RefusalReasonGroup[] = [
  DEVICE,
  {
    names: "hls applehttp dash imf",
    why: "lists media in other files",
    instead: "give the playlist's URL, or each piece of media, as an input",
  },
  {
    names: "sdp rtp rtsp sap rtmp srt_live",
    why: "is a network stream, and a command has no network",
    instead: "give a URL as an input and name it",
  },
  {
    names: "avisynth vapoursynth",
    why: "runs a script",
    instead: "use filters of ffmpeg",
  },
  {
    names: "bluray dvdvideo",
    why: "reads a disc or a folder",
    instead: "give the title's media file as an input",
  },
]

const REFUSED_OUTPUTS: readonly RefusalReasonGroup[] = [
  DEVICE,
  {
    names: "rtp rtp_mpegts rtsp sap whip webrtc",
    why: "is a network stream, and a command has no network",
    instead: "write to an output and download it from there",
  },
  {
    names: "hds smoothstreaming",
    why: "writes a folder, and a command has only one",
    instead: "use -f hls or -f dash",
  },
]

const INPUTS = indexRefusalReasonsByName(REFUSED_INPUTS)
const OUTPUTS = indexRefusalReasonsByName(REFUSED_OUTPUTS)

/**
 * Returns the reason to refuse an input format; null if the format is allowed. Ignores the letter
 * case of the name.
 */
export function findInputFormatRefusalReason(format: string): RefusalReason | null {
  return INPUTS.get(format.toLowerCase()) ?? null
}

/**
 * Returns the reason to refuse an output format; null if the format is allowed. Ignores the letter
 * case of the name.
 */
export function findOutputFormatRefusalReason(format: string): RefusalReason | null {
  return OUTPUTS.get(format.toLowerCase()) ?? null
}
