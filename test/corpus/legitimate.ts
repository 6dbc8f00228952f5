import { PICTURES } from "./legitimate-pictures.ts"
import { SOUND } from "./legitimate-sound.ts"
import { STREAMS } from "./legitimate-streams.ts"
import { VIDEO } from "./legitimate-video.ts"
import type { Work } from "./work.ts"

/** Commands that users of ffmpeg run; all must succeed. */
export const LEGITIMATE: Work[] = [...VIDEO, ...PICTURES, ...SOUND, ...STREAMS]
