import { PICTURES } from "./legitimate-pictures.ts"
import { SOUND } from "./legitimate-sound.ts"
import { STREAMS } from "./legitimate-streams.ts"
import { VIDEO } from "./legitimate-video.ts"
import type { Work } from "./work.ts"

/** What users of ffmpeg do; every one must work. */
export const LEGITIMATE: Work[] = [...VIDEO, ...PICTURES, ...SOUND, ...STREAMS]
