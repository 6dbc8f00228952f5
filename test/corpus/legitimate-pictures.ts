import type { Work } from "./work.ts"

const clip = { in_1: "clip.mp4" }
const dark = { in_1: "dark.mp4" }
const withLogo = { in_1: "dark.mp4", in_2: "logo.png" }
const three = { in_1: "scene.png", in_2: "white.png", in_3: "scene.png" }

/** Stills, animations, series, overlays, text and generated pictures. */
export const PICTURES: Work[] = [
  {
    name: "extracts a thumbnail",
    inputs: clip,
    outputs: { out_1: ["thumb.jpg", { codecs: "mjpeg", size: "64x48" }] },
    run: "ffmpeg -ss 1 -i {{in_1}} -frames:v 1 -vf scale=64:-1 -q:v 2 {{out_1}}",
  },
  {
    name: "lets ffmpeg choose the thumbnail",
    inputs: clip,
    outputs: { out_1: ["thumb.png", { codecs: "png", size: "160x120" }] },
    run: "ffmpeg -i {{in_1}} -vf thumbnail=10 -frames:v 1 -update 1 {{out_1}}",
  },
  {
    name: "makes a contact sheet",
    inputs: clip,
    outputs: { out_1: ["sheet.jpg", { size: "324x184" }] },
    run: 'ffmpeg -i {{in_1}} -vf "fps=3,scale=80:60,tile=4x3:padding=1:margin=0,scale=324:184" -frames:v 1 {{out_1}}',
  },
  {
    name: "makes a GIF with its own palette in one command",
    inputs: clip,
    outputs: { out_1: ["loop.gif", { format: "gif", codecs: "gif", size: "80x60" }] },
    run: 'ffmpeg -i {{in_1}} -filter_complex "fps=5,scale=80:-1:flags=lanczos,split[a][b];[a]palettegen=max_colors=64[p];[b][p]paletteuse=dither=bayer" -loop 0 {{out_1}}',
  },
  {
    name: "makes a GIF with a palette in two commands",
    inputs: clip,
    outputs: { out_1: ["palette.png", { size: "16x16" }], out_2: ["loop.gif", { frames: 10 }] },
    run: [
      "ffmpeg -i {{in_1}} -vf fps=5,palettegen {{out_1}}",
      'ffmpeg -i {{in_1}} -i {{out_1}} -lavfi "fps=5[x];[x][1:v]paletteuse" {{out_2}}',
    ],
  },
  {
    name: "makes an animated WebP",
    inputs: clip,
    outputs: { out_1: ["loop.webp", { text: /^RIFF[\s\S]{4}WEBPVP8X[\s\S]*ANIM/ }] },
    run: "ffmpeg -i {{in_1}} -vf fps=5,scale=80:-1 -c:v libwebp_anim -lossless 0 -q:v 60 -loop 0 -an {{out_1}}",
  },
  {
    name: "makes an animated PNG",
    inputs: clip,
    outputs: { out_1: ["loop.png", { format: "apng", codecs: "apng", frames: 4 }] },
    run: "ffmpeg -i {{in_1}} -frames:v 4 -plays 0 -f apng {{out_1}}",
  },
  {
    name: "makes a video of a GIF",
    inputs: clip,
    outputs: { out_1: ["a.gif", { frames: 20 }], out_2: ["b.mp4", { codecs: "h264", frames: 20 }] },
    run: [
      "-i in_1 out_1",
      '-i out_1 -movflags faststart -pix_fmt yuv420p -vf "scale=trunc(iw/2)*2:trunc(ih/2)*2" out_2',
    ],
  },
  {
    name: "converts a photo to WebP, PNG, BMP and TIFF at once",
    inputs: { in_1: "photo.jpg" },
    outputs: {
      out_1: ["photo.webp", { codecs: "webp", size: "320x240" }],
      out_2: ["photo.png", { codecs: "png" }],
      out_3: ["photo.bmp", { codecs: "bmp" }],
      out_4: ["photo.tiff", { codecs: "tiff", size: "320x240" }],
    },
    run: "ffmpeg -i {{in_1}} -quality 80 {{out_1}} {{out_2}} {{out_3}} {{out_4}}",
  },
  {
    name: "writes a numbered series of pictures",
    inputs: clip,
    outputs: {
      out_1: [
        "frame_%03d.png",
        {
          memberCount: 4,
          members: [/^frame_001\.png$/, /^frame_004\.png$/],
          isZip: true,
          size: "160x120",
        },
      ],
    },
    run: "ffmpeg -i {{in_1}} -vf fps=2 {{out_1}}",
  },
  {
    name: "reads a numbered series of pictures",
    inputs: { in_1: "scene.png", in_2: "white.png", in_3: "scene.png" },
    outputs: { out_1: ["series.mp4", { frames: 3, rate: "2/1" }] },
    run: "ffmpeg -framerate 2 -start_number 1 -i in_%d.png -c:v libx264 -preset ultrafast -pix_fmt yuv420p {{out_1}}",
  },
  {
    name: "makes a slide show from a list with durations",
    inputs: { in_1: "scene.png", in_2: "white.png", in_3: "slides.txt" },
    outputs: { out_1: ["slides.mp4", { codecs: "h264", rate: "10/1" }] },
    run: "ffmpeg -f concat -safe 0 -i in_3 -r 10 -pix_fmt yuv420p -preset ultrafast out_1",
  },
  {
    name: "makes a slide show with crossfades and music",
    inputs: { ...three, in_4: "music.mp3" },
    outputs: { out_1: ["show.mp4", { codecs: "h264 aac", seconds: 2 }] },
    run: 'ffmpeg -loop 1 -t 1 -i in_1 -loop 1 -t 1 -i in_2 -loop 1 -t 1 -i in_3 -i in_4 -filter_complex "[0:v][1:v]xfade=transition=slideleft:duration=0.5:offset=0.5[a];[a][2:v]xfade=transition=circleopen:duration=0.5:offset=1[v]" -map "[v]" -map 3:a -shortest -pix_fmt yuv420p -preset ultrafast out_1',
  },
  {
    name: "zooms and pans over a photo",
    inputs: { in_1: "photo.jpg" },
    outputs: { out_1: ["zoom.mp4", { size: "160x120", frames: 10 }] },
    run: "ffmpeg -loop 1 -i {{in_1}} -vf \"zoompan=z='min(zoom+0.01,1.5)':d=10:x='iw/2-(iw/zoom/2)':y='ih/2-(ih/zoom/2)':s=160x120:fps=10\" -frames:v 10 -pix_fmt yuv420p -preset ultrafast {{out_1}}",
  },
  {
    name: "makes a video of a picture and a song",
    inputs: { in_1: "photo.jpg", in_2: "music.mp3" },
    outputs: { out_1: ["song.mp4", { codecs: "h264 aac", sound: "44100 2" }] },
    run: "ffmpeg -loop 1 -framerate 2 -i {{in_1}} -i {{in_2}} -c:v libx264 -tune stillimage -preset ultrafast -c:a aac -pix_fmt yuv420p -shortest {{out_1}}",
  },
  {
    name: "overlays a logo in a corner",
    inputs: withLogo,
    outputs: { out_1: ["branded.mp4", { luma: [10, 40], frames: 10 }] },
    run: 'ffmpeg -i {{in_1}} -i {{in_2}} -filter_complex "overlay=W-w-10:H-h-10" -preset ultrafast {{out_1}}',
  },
  {
    name: "overlays a half transparent logo on the centre for some seconds",
    inputs: withLogo,
    outputs: { out_1: ["branded.mp4", { luma: [3, 20] }] },
    run: "ffmpeg -i in_1 -i in_2 -filter_complex \"[1]format=rgba,colorchannelmixer=aa=0.5[l];[0][l]overlay=(W-w)/2:(H-h)/2:enable='lte(t,0.5)'\" -preset ultrafast out_1",
  },
  {
    name: "overlays a logo by the source movie",
    inputs: withLogo,
    outputs: { out_1: ["branded.mp4", { luma: [10, 40] }] },
    run: 'ffmpeg -i in_1 -vf "movie=in_2[l];[in][l]overlay=5:5[out]" -preset ultrafast out_1',
  },
  {
    name: "makes a picture-in-picture",
    inputs: { in_1: "clip.mp4", in_2: "tall.mov" },
    outputs: { out_1: ["both.mp4", { codecs: "h264 aac", size: "160x120", seconds: 1 }] },
    run: 'ffmpeg -i in_1 -i in_2 -filter_complex "[1:v]scale=48:-2[s];[0:v][s]overlay=main_w-overlay_w-4:4:shortest=1[v]" -map "[v]" -map 0:a -shortest -preset ultrafast out_1',
  },
  {
    name: "shows four clips in a grid",
    inputs: clip,
    outputs: { out_1: ["grid.mp4", { size: "320x240" }] },
    run: 'ffmpeg -i in_1 -i in_1 -i in_1 -i in_1 -filter_complex "[0:v][1:v][2:v][3:v]xstack=inputs=4:layout=0_0|w0_0|0_h0|w0_h0[v]" -map "[v]" -preset ultrafast out_1',
  },
  {
    name: "draws a title",
    inputs: dark,
    outputs: { out_1: ["title.mp4", { luma: [8, 80] }] },
    run: "ffmpeg -i {{in_1}} -vf \"drawtext=text='Hello':fontsize=48:fontcolor=white:x=(w-tw)/2:y=(h-th)/2\" -preset ultrafast {{out_1}}",
  },
  {
    name: "draws a title in an uploaded font",
    inputs: { ...dark, in_2: "font.ttf" },
    outputs: { out_1: ["title.mp4", { luma: [8, 80] }] },
    run: 'ffmpeg -i {{in_1}} -vf "drawtext=fontfile={{in_2}}:text=Hello:fontsize=48:fontcolor=white:box=1:boxcolor=black@0.5:boxborderw=5" -preset ultrafast {{out_1}}',
  },
  {
    name: "draws quotes, colons, percent signs, an address and umlauts",
    inputs: dark,
    outputs: { out_1: ["title.mp4", { luma: [3, 80] }] },
    run: String.raw`ffmpeg -i {{in_1}} -vf "drawtext=text='https\://example.com/ä?x=1 it'\\\''s \"50 \%\" – Größe':expansion=none:fontsize=14:fontcolor=white" -preset ultrafast {{out_1}}`,
  },
  {
    name: "draws a text from a file",
    inputs: { ...dark, in_2: "text.txt" },
    outputs: { out_1: ["title.mp4", { luma: [3, 80] }] },
    run: "ffmpeg -i {{in_1}} -vf drawtext=textfile=in_2:fontsize=20:fontcolor=white:expansion=none -preset ultrafast {{out_1}}",
  },
  {
    name: "draws the time code and the frame number",
    inputs: dark,
    outputs: { out_1: ["coded.mp4", { luma: [3, 80] }] },
    run: String.raw`ffmpeg -i {{in_1}} -vf "drawtext=timecode='09\:57\:00\:00':rate=10:fontsize=20:fontcolor=white,drawtext=text='%{n} %{pts\:hms}':y=40:fontsize=20:fontcolor=white" -preset ultrafast {{out_1}}`,
  },
  {
    name: "scrolls a text",
    inputs: dark,
    outputs: { out_1: ["news.mp4", { frames: 10 }] },
    run: "ffmpeg -i {{in_1}} -vf \"drawtext=text='News':x=w-mod(t*80\\,w+tw):y=h-th-5:fontsize=24:fontcolor=white:enable='gte(t,0.2)'\" -preset ultrafast {{out_1}}",
  },
  {
    name: "draws a bar of progress and a grid",
    inputs: dark,
    outputs: { out_1: ["bar.mp4", { luma: [17, 200] }] },
    run: 'ffmpeg -i {{in_1}} -vf "drawgrid=w=20:h=20:c=white@0.8,drawbox=x=0:y=ih-10:w=iw:h=10:color=red:t=fill" -preset ultrafast {{out_1}}',
  },
  {
    name: "makes a test card with a tone",
    outputs: { out_1: ["card.mp4", { codecs: "h264 aac", size: "160x120", seconds: 1 }] },
    run: "ffmpeg -f lavfi -i testsrc2=size=160x120:rate=10:duration=1 -f lavfi -i sine=frequency=1000:duration=1 -pix_fmt yuv420p -preset ultrafast {{out_1}}",
  },
  {
    name: "makes a plain card with silence",
    outputs: {
      out_1: ["plain.mp4", { codecs: "h264 aac", sound: "48000 2", decibels: [-100, -60] }],
    },
    run: "ffmpeg -f lavfi -i color=c=navy:s=160x120:r=10 -f lavfi -i anullsrc=r=48000:cl=stereo -t 1 -pix_fmt yuv420p -preset ultrafast {{out_1}}",
  },
  {
    name: "makes colour bars, a fractal, a gradient and life",
    outputs: { out_1: ["art.mkv", { codecs: "h264 h264 h264 h264", size: "160x120" }] },
    run: "ffmpeg -f lavfi -i smptebars=s=160x120:d=0.5 -f lavfi -t 0.2 -i mandelbrot=s=160x120:r=10 -f lavfi -t 0.2 -i gradients=s=160x120:r=10 -f lavfi -t 0.2 -i life=s=160x120:r=10 -map 0 -map 1 -map 2 -map 3 -pix_fmt yuv420p -preset ultrafast {{out_1}}",
  },
  {
    name: "calculates a picture",
    outputs: { out_1: ["ramp.png", { size: "64x64", luma: [100, 150] }] },
    run: "ffmpeg -f lavfi -i nullsrc=s=64x64,geq=lum='X*4':cb=128:cr=128 -frames:v 1 {{out_1}}",
  },
  {
    name: "keeps raw frames",
    inputs: clip,
    outputs: { out_1: ["frames.yuv", { bytes: 160 * 120 * 1.5 * 3 }] },
    run: "ffmpeg -i {{in_1}} -frames:v 3 -f rawvideo -pix_fmt yuv420p {{out_1}}",
  },
  {
    name: "keeps frames in YUV4MPEG and reads them again",
    inputs: clip,
    outputs: {
      out_1: ["f.y4m", { format: "yuv4mpegpipe", frames: 3 }],
      out_2: ["f.mp4", { frames: 3 }],
    },
    run: ["-i in_1 -frames:v 3 -pix_fmt yuv420p out_1", "-i out_1 -preset ultrafast out_2"],
  },
  {
    name: "extracts keyframes only, and frames at scene changes",
    inputs: clip,
    outputs: { out_1: ["keys.mp4", { codecs: "h264" }], out_2: ["scenes.mp4", { codecs: "h264" }] },
    run: "ffmpeg -i in_1 -an -vf \"select='eq(pict_type,I)',setpts=N/10/TB\" -preset ultrafast out_1 -an -vf \"select='gt(scene,0.0001)+eq(n,0)',setpts=N/10/TB\" -preset ultrafast out_2",
  },
]
