import type { Wrong } from "./wrong.ts"

/** Sizes that do not fit the input's frames of 160x120. */
export const WRONG_SIZES: Wrong[] = [
  ["-i in_1 -vf scale=-1:91 out.mp4", "write even numbers, or -2 for a side that is to follow"],
  ["-i in_1 -vf scale=-2:91 out.mp4", "write even numbers, or -2 for a side that is to follow"],
  ["-i in_1 -vf scale=81:-1 out.mp4", "write even numbers, or -2 for a side that is to follow"],
  ["-i in_1 -vf scale=iw*3/7:-1 out.mp4", "write even numbers, or -2 for a side that is to follow"],
  [
    "-i in_1 -map 0:v -vf scale=1.5:60 out.mp4",
    "write even numbers, or -2 for a side that is to follow",
  ],
  [
    "-i in_1 -c:v libx264 -pix_fmt yuv422p -vf scale=81:60 out.mp4",
    "write even numbers, or -2 for a side that is to follow",
  ],
  [
    "-i in_1 -filter_complex [0:v]scale=81:61[v] -map [v] -pix_fmt yuv420p out.mp4",
    "write even numbers, or -2 for a side that is to follow",
  ],
  ["-i in_1 -vf scale=100000:100000 out.mp4", "larger than the largest picture of ffmpeg"],
  ["-i in_1 -vf crop=640:480 out.mp4", "crop less, as crop=iw/2:ih/2, or scale it before"],
  ["-i in_1 -vf crop=iw+10:ih out.mp4", "crop less, as crop=iw/2:ih/2, or scale it before"],
  [
    "-i in_1 -vf scale=80:60,crop=100:50 out.mp4",
    "crop less, as crop=iw/2:ih/2, or scale it before",
  ],
  [
    "-i in_1 -vf transpose,crop=150:100 out.mp4",
    "crop less, as crop=iw/2:ih/2, or scale it before",
  ],
  [
    "-i in_1 -filter_complex [0:v]crop=320:240[v] -map [v] out.mp4",
    "crop less, as crop=iw/2:ih/2, or scale it before",
  ],
  ["-i in_1 -vf crop=-100:100 out.mp4", "leaves nothing of the picture"],
  ["-i in_1 -vf crop=0:0 out.mp4", "leaves nothing of the picture"],
  ["-i in_1 -vf pad=80:60 out.mp4", "pad more, as pad=iw+20:ih+20, or scale the picture"],
  ["-i in_1 -vf pad=16:9 out.mp4", "pad more, as pad=iw+20:ih+20, or scale the picture"],
  ["-i in_1 -vf pad=iw-10:ih out.mp4", "pad more, as pad=iw+20:ih+20, or scale the picture"],
  [
    "-i in_1 -vf scale=320:240,pad=160:120 out.mp4",
    "pad more, as pad=iw+20:ih+20, or scale the picture",
  ],
  ["-i in_1 -vf delogo=x=0:y=0:w=50:h=20 out.mp4", "begin at x=1:y=1"],
  ["-i in_1 -vf delogo=x=150:y=10:w=50:h=20 out.mp4", "is not within the picture"],
  [
    "-i in_1 -filter_complex [0:v]scale=80:60[s];[0:v][s]hstack out.mp4",
    "scale one of them before, as scale=-2:120",
  ],
  [
    "-i in_1 -i in_1 -filter_complex [1:v]scale=80:60[s];[0:v][s]vstack out.mp4",
    "scale one of them before, as scale=160:-2",
  ],
  [
    "-i in_1 -i in_1 -filter_complex [1:v]scale=80:60[s];[0:v][s]xfade=offset=0.5:duration=0.5 out.mp4",
    "scale one of them before, as scale=160:120",
  ],
  [
    "-i in_1 -i in_1 -filter_complex [1:v]scale=80:60[s];[0:v][0:a][s][1:a]concat=n=2:v=1:a=1[v][a] -map [v] -map [a] out.mp4",
    "scale one of them before, as scale=160:120,setsar=1",
  ],
]
