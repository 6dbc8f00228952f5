/**
 * Commands that resemble the wrong ones of the other tables but work; the last word is the output.
 */
export const RIGHT: string[] = [
  // A labeled input reads a stream that an unlabeled one has already read.
  "-i in_1 -filter_complex hflip[a];[0:v][a]hstack out.mp4",
  "-i in_1 -filter_complex hflip[a] -filter_complex [0:v]vflip[b] -map [a] -map [b] out.mkv",
  "-i in_1 -filter_complex trim=0:0.4[a];[0:v]trim=0.5:1,setpts=PTS-STARTPTS[b];[a][b]concat out.mp4",
  "-i in_1 -filter_complex split[a][b];[a][b]hstack[c];[0:v]pad=iw*2[d];[c][d]vstack out.mp4",
  "-i in_1 -i in_mute -lavfi ssim;[0:v][1:v]psnr -f null -",
  "-i in_1 -i in_mute -filter_complex [0:v]hflip[a];vflip[b];[a][b]hstack out.mp4",
  "-i in_1 -i in_mute -filter_complex hflip[a];[0:v]vflip[b];negate[c];[a][b][c]hstack=3 out.mp4",
  "-i in_2 -i in_1 -filter_complex hflip;volume=2 out.mp4",
  "-i in_1 -i in_pic -i in_pic -filter_complex overlay=5:5,overlay=50:50 out.mp4",
  "-an -i in_1 -i in_snd -filter_complex volume=2 out.mp4",
  "-f lavfi -i color=s=160x120:d=1,split[out0][out1] -filter_complex vstack out.mp4",
  "-i in_1 -i in_mute -i in_1 -filter_complex [0:v][1:v][2:v]xstack=grid=3x1 out.mp4",
  "-i in_1 -i in_mute -i in_1 -filter_complex xstack=inputs=2:grid=3x1:shortest=1 out.mp4",
  "-f lavfi -i color=s=160x120[a];movie=in_mute[b];[a][b]overlay=shortest=1 out.mp4",
  "-f lavfi -i sine[a];amovie=in_snd[b];[a][b]amerge out.wav",
  // Only a single stream of several, because the format has room for one.
  "-i in_full -i in_snd -map 0 -map 1 -vn -sn -map -0:a out.wav",
  "-i in_1 -i in_snd -filter_complex [0:a][1:a]amix[a] -map [a] out.wav",
  "-i in_1 -i in_snd -map 0:a -map 1:a out.m4a",
  "-i in_1 -map 0:a? -map 0:s? out.mp3",
  "-i in_snd -i in_pic -map 0 -map 1 -disposition:v attached_pic out.flac",
  "-i in_snd -i in_pic -i in_pic -map 0 -map 1 -map 2 -disposition:v attached_pic out.mp3",
  "-i in_full -vf subtitles=in_full.mkv:si=0 out.mp4",
  // Single images.
  "-i in_still out.png",
  "-i in_still -vf fps=25,scale=80:-1 out.png",
  "-i in_1 -vf fps=2 -update 1 out.png",
]

/**
 * Commands that succeed in one build of ffmpeg without writing a frame, or that fail in another
 * build.
 */
export const UNCERTAIN: string[] = [
  "-stream_loop -1 -i in_flv out.mp4",
  "-stream_loop -1 -i in_2 out.srt",
  "-stream_loop -1 -f lavfi -i testsrc=d=1 out.mp4",
  "-i in_1 -vf setpts=PTS/1000,fps=25 out.png",
  "-i in_1 -vf fps=1/20 out.png",
]
