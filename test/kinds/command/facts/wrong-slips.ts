import type { Wrong } from "./wrong.ts"

/** Misspellings that a create accepts, since only ffmpeg can judge them. */
export const WRONG_SLIPS: Wrong[] = [
  ["-i in_1 -vf scale=640p out.mp4", "write scale=-2:640"],
  ["-i in_1 -vf crop=100px:80px out.mp4", "write 100 alone, without a unit"],
  ['-i in_1 -vf "rotate=90deg" out.mp4', "write 90*PI/180"],
  ["-i in_1 -vf showwavespic=s=64x32 out.mp4", '"[0:a]showwavespic='],
  ["-i in_1 -af silencedetect=n=-50:d=0.5 out.mp4", "as -50dB"],
  ["-i in_1 -vf scale=1280:auto out.mp4", "write -2"],
  ['-i in_1 -vf "scale=1280:720 fps=30" out.mp4', "write a comma between filters"],
  ["-i in_1 -af volume=150% out.mp4", "1.5 alone"],
  ["-i in_1 -af normalize out.mp4", "for sound there is loudnorm"],
  ["-i in_1 -af fade=in out.mp4", "for sound there is afade"],
  ["-i in_1 -c:video libx264 out.mp4", "write v, a or s"],
  ["-f lavfi -i testsrc2=d=1 -b:v 1M -pass 2 out.mp4", "-pass 1 -f null -"],
  ["-f lavfi -i testsrc2=d=1 -filter_complex hstack out.mp4", "as [0:v]"],
]
