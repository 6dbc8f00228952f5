import { byName } from "./refusal.ts"
import type { Reason, ReasonFor } from "./refusal.ts"

const DEVICES =
  "alsa android_camera audiotoolbox avfoundation bktr caca dc1394 decklink dshow fbdev gdigrab iec61883 jack kmsgrab libcdio libdc1394 ndi_newtek libndi_newtek openal opengl oss pulse sdl sdl2 sndio v4l2 vfwcap video4linux2 x11grab xcbgrab xv"

const DEVICE: ReasonFor = {
  names: DEVICES,
  why: "is a device, and a command has none",
  instead: "read from an input or from -f lavfi, and write to an output",
}

const REFUSED_INPUTS: readonly ReasonFor[] = [
  DEVICE,
  {
    names: "hls applehttp dash imf",
    why: "is a list of media that lie elsewhere",
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

const REFUSED_OUTPUTS: readonly ReasonFor[] = [
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

const INPUTS = byName(REFUSED_INPUTS)
const OUTPUTS = byName(REFUSED_OUTPUTS)

/** Why a format is refused for an input; null where it is not. Letter case is nothing to ffmpeg. */
export function reasonAgainstInputFormat(format: string): Reason | null {
  return INPUTS.get(format.toLowerCase()) ?? null
}

/** Why a format is refused for an output; null where it is not. */
export function reasonAgainstOutputFormat(format: string): Reason | null {
  return OUTPUTS.get(format.toLowerCase()) ?? null
}
