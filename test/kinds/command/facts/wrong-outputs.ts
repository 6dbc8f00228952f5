import type { Wrong } from "./wrong.ts"

/** Several frames for one image name, options of another format, and input that encoders refuse. */
export const WRONG_OUTPUTS: Wrong[] = [
  ["-i in_1 out.png", "write a pattern as frame_%03d.png for all of them, or"],
  ["-i in_1 -vf scale=80:-2 out.jpg", "write a pattern as frame_%03d.png for all of them, or"],
  ["-i in_1 -frames:v 2 out.png", "write a pattern as frame_%03d.png for all of them, or"],
  ["-i in_1 -vf fps=5 out.png", "write a pattern as frame_%03d.png for all of them, or"],
  [
    "-i in_1 -vf scale=80:-2,fps=20/2 out.png",
    "write a pattern as frame_%03d.png for all of them, or",
  ],
  ["-i in_1 -t 0.5 out.bmp", "write a pattern as frame_%03d.png for all of them, or"],
  ["-i in_1 -c copy -f segment -segment_time 1 out.mp4", "as out_%03d.mp4"],
  ["-i in_1 -hls_segment_filename seg.ts -hls_time 0.2 -g 5 out.m3u8", "as seg_%03d.ts"],
  ["-i in_1 -map_metadata 5 out.mp4", "the only one is 0"],
  ["-i in_1 -i in_2 -map_chapters 2 out.mp4", "the inputs have the numbers 0 to 1"],
  ["-i in_1 -metadata:v title=A out.mp4", "write s before it, as -metadata:s:v"],
  ["-i in_1 -metadata:a:0 language=eng out.mp4", "write s before it, as -metadata:s:a"],
  ["-i in_1 -force_key_frames abc out.mp4", "write times with commas between, as 0,2,4, or"],
  ["-i in_1 -force_key_frames '1;2' out.mp4", "write times with commas between, as 0,2,4, or"],
  [
    "-i in_1 -force_key_frames 'expr:gte(t,n_forcd*2)' out.mp4",
    "write a number, or a name that the filter has, as iw,",
  ],
  ["-i in_1 -force_key_frames 'expr:gte(t,n_forced*2' out.mp4", "never closed"],
  ["-i in_1 -c copy -tag:v avc out.mp4", "a tag has 4 letters"],
  ["-i in_1 -pix_fmt yuv420p,yuv444p out.mp4", "write one, as yuv420p"],
  [
    "-i in_1 -metadata:s:video title=A out.mp4",
    "write v, a or s with a number if need be, as -map",
  ],
  ["-i in_1 -bsf:a h264_mp4toannexb -c copy out.mp4", "write it behind -bsf:v"],
  [
    "-i in_1 -bsf:v hevc_mp4toannexb -c copy out.ts",
    "write it behind -bsf:v for pictures and -bsf:a for",
  ],
  ["-ignore_loop 0 -i in_1 out.mp4", "it is for a .gif"],
  ["-loop 1 -t 1 -i in_1 out.mp4", "write -stream_loop 1"],
  ["-framerate 25 -i in_1 out.mp4", "write -r before the output"],
  ["-pix_fmt yuv420p -i in_1 out.mp4", "it is for raw pictures"],
  ["-s 640x480 -i in_1 out.mp4", "it is for raw pictures"],
  ["-safe 0 -i in_1 out.mp4", "behind -f concat"],
  ["-ar 44100 -i in_1 out.mp4", "it is for raw sound"],
  ["-loop 2 -t 1 -i in_pic out.mp4", "write -loop 1"],
  ["-f matroska -i in_1 out.mp4", "leave -f matroska out"],
  ["-f mp4 -i in_snd out.mp3", "leave -f mp4 out, unless the file is damaged"],
  ["-i in_1 -c:v libx265 -crf 60 out.mp4", "write 0 to 51, as -crf 28"],
  ["-i in_1 -an -level 4.3 out.mp4", "write a level of H.264, as 3.1, 4.0 or 4.2"],
  ["-i in_1 -an -level high out.mp4", "write a level of H.264, as 3.1, 4.0 or 4.2"],
  [
    "-i in_1 -c:v libx264 -profile:v baseline -pix_fmt yuv444p out.mp4",
    "write -pix_fmt yuv420p, or leave -profile:v out",
  ],
  [
    "-i in_1 -c:v libx264 -profile:v high -pix_fmt yuv420p10le out.mp4",
    "write -pix_fmt yuv420p, or leave -profile:v out",
  ],
  [
    "-i in_1 -c:v libx264 -x264-params crf:20 out.mp4",
    "write pairs with colons between, as crf=20:bframes=2",
  ],
  ["-i in_1 -vn -ac 6 out.mp3", "write -ac 2"],
  [
    "-i in_1 -vn -ac 9 -c:a libopus out.opus",
    "write fewer, as -ac 2, or place them by the filter pan",
  ],
  ["-i in_1 -vn -c:a libopus -b:a 1000k out.opus", "write less, as 128k"],
  ["-i in_1 -vn -c:a libopus -b:a 64 out.opus", "write 64k"],
  ["-i in_1 -vn -c:a libvorbis -b:a 64 out.ogg", "write 64k"],
]

/** Commands that write nothing; ffmpeg succeeds, and only the service reports a failure. */
export const EMPTY: Wrong[] = [
  ["-i in_1 -t 0 out.mp4", "write a larger number"],
  ["-i in_1 -frames:v 0 -an out.mp4", "write a larger number"],
  ["-i in_1 -an -vf fps=0 out.mp4", "more than 0 frames"],
]

/** Mistakes that succeed with a warning in some builds of ffmpeg. */
export const SUCCEEDING: readonly string[] = ["-i in_1 -vf fps=0 out.mp4"]
