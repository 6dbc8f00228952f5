import type { Work } from "./work.ts"

const tone = { in_1: "tone.wav" }
const clip = { in_1: "clip.mp4" }

/** Codecs, levels, channels, cleaning and pictures of sound. */
export const SOUND: Work[] = [
  {
    name: "makes an MP3 of a video's audio",
    inputs: clip,
    outputs: { out_1: ["sound.mp3", { format: "mp3", codecs: "mp3", seconds: 2 }] },
    run: "ffmpeg -i {{in_1}} -vn -c:a libmp3lame -q:a 2 {{out_1}}",
  },
  {
    name: "extracts a video's audio unchanged",
    inputs: clip,
    outputs: { out_1: ["sound.m4a", { codecs: "aac", seconds: 2 }] },
    run: "ffmpeg -i {{in_1}} -vn -acodec copy {{out_1}}",
  },
  {
    name: "makes AAC in ADTS",
    inputs: tone,
    outputs: { out_1: ["sound.aac", { format: "aac", codecs: "aac" }] },
    run: "ffmpeg -i {{in_1}} -c:a aac -b:a 96k {{out_1}}",
  },
  {
    name: "makes Opus for speech",
    inputs: tone,
    outputs: { out_1: ["voice.opus", { format: "ogg", codecs: "opus", sound: "48000 1" }] },
    run: "ffmpeg -i {{in_1}} -ac 1 -c:a libopus -b:a 24k -application voip {{out_1}}",
  },
  {
    name: "makes Vorbis in Ogg",
    inputs: tone,
    outputs: { out_1: ["sound.ogg", { format: "ogg", codecs: "vorbis" }] },
    run: "ffmpeg -i {{in_1}} -c:a libvorbis -q:a 4 {{out_1}}",
  },
  {
    name: "makes FLAC, ALAC and AC-3 at once",
    inputs: tone,
    outputs: {
      out_1: ["sound.flac", { format: "flac", codecs: "flac", sound: "44100 2" }],
      out_2: ["sound.m4a", { codecs: "alac" }],
      out_3: ["sound.ac3", { format: "ac3", codecs: "ac3" }],
    },
    run: "ffmpeg -i {{in_1}} -compression_level 8 {{out_1}} -c:a alac {{out_2}} -c:a ac3 -b:a 192k {{out_3}}",
  },
  {
    name: "makes WAV of 24 bits at 96 kHz and AIFF",
    inputs: tone,
    outputs: {
      out_1: ["sound.wav", { codecs: "pcm_s24le", sound: "96000 2" }],
      out_2: ["sound.aiff", { format: "aiff", codecs: "pcm_s16be" }],
    },
    run: "ffmpeg -i {{in_1}} -c:a pcm_s24le -ar 96000 {{out_1}} {{out_2}}",
  },
  {
    name: "makes 16 kHz mono for speech recognition",
    inputs: clip,
    outputs: { out_1: ["speech.wav", { codecs: "pcm_s16le", sound: "16000 1", seconds: 2 }] },
    run: "ffmpeg -i {{in_1}} -vn -ac 1 -ar 16000 -c:a pcm_s16le {{out_1}}",
  },
  {
    name: "keeps raw samples, and reads them again",
    inputs: tone,
    outputs: {
      out_1: ["sound.pcm", { bytes: 2 * 8000 * 2 }],
      out_2: ["again.wav", { sound: "8000 1", seconds: 2 }],
    },
    run: ["-i in_1 -f s16le -ac 1 -ar 8000 out_1", "-f s16le -ac 1 -ar 8000 -i out_1 out_2"],
  },
  {
    name: "makes G.711 for a telephone",
    inputs: tone,
    outputs: { out_1: ["call.wav", { codecs: "pcm_mulaw", sound: "8000 1" }] },
    run: "ffmpeg -i {{in_1}} -ar 8000 -ac 1 -c:a pcm_mulaw {{out_1}}",
  },
  {
    name: "normalizes loudness in one pass",
    inputs: tone,
    outputs: { out_1: ["even.wav", { sound: "44100 2", decibels: [-24, -12] }] },
    run: "ffmpeg -i {{in_1}} -af loudnorm=I=-16:TP=-1.5:LRA=11 -ar 44100 {{out_1}}",
  },
  {
    name: "normalizes loudness in two passes",
    inputs: tone,
    outputs: { out_1: ["even.wav", { decibels: [-34, -20] }] },
    run: [
      "ffmpeg -i in_1 -af loudnorm=I=-23:TP=-2:LRA=7:print_format=json -f null -",
      "ffmpeg -i in_1 -af loudnorm=I=-23:TP=-2:LRA=7:measured_I=-21.7:measured_TP=-18:measured_LRA=0:measured_thresh=-31.7:offset=0:linear=true -ar 44100 out_1",
    ],
  },
  {
    name: "measures loudness and volume",
    inputs: tone,
    outputs: { out_1: ["levels.txt", { text: "lavfi.r128.I=" }] },
    run: "ffmpeg -i {{in_1}} -af ebur128=metadata=1,volumedetect,astats=metadata=1,ametadata=print:file={{out_1}} -f null -",
  },
  {
    name: "lowers the volume",
    inputs: tone,
    outputs: { out_1: ["quiet.wav", { decibels: [-75, -45] }] },
    run: 'ffmpeg -i {{in_1}} -af "volume=-36dB" {{out_1}}',
  },
  {
    name: "compresses and limits",
    inputs: tone,
    outputs: { out_1: ["loud.wav", { decibels: [-15, -1] }] },
    run: 'ffmpeg -i {{in_1}} -af "acompressor=threshold=-21dB:ratio=9:attack=200:release=1000,volume=15dB,alimiter=limit=0.9" {{out_1}}',
  },
  {
    name: "finds silences",
    inputs: { in_1: "pauses.wav" },
    outputs: { out_1: ["silences.txt", { text: "lavfi.silence_start=0.4" }] },
    run: 'ffmpeg -i {{in_1}} -af "silencedetect=n=-40dB:d=0.3,ametadata=mode=print:file={{out_1}}" -f null /dev/null',
  },
  {
    name: "removes silence",
    inputs: { in_1: "pauses.wav" },
    outputs: { out_1: ["dense.wav", { seconds: 0.8 }] },
    run: "ffmpeg -i {{in_1}} -af silenceremove=stop_periods=-1:stop_duration=0.1:stop_threshold=-40dB {{out_1}}",
  },
  {
    name: "mixes voice and music",
    inputs: { in_1: "tone.wav", in_2: "music.mp3" },
    outputs: { out_1: ["mix.mp3", { codecs: "mp3", seconds: 2 }] },
    run: 'ffmpeg -i in_1 -i in_2 -filter_complex "[1:a]volume=0.3[m];[0:a][m]amix=inputs=2:duration=first:dropout_transition=0[a]" -map "[a]" out_1',
  },
  {
    name: "ducks music under a voice",
    inputs: { in_1: "pauses.wav", in_2: "music.mp3" },
    outputs: { out_1: ["ducked.m4a", { codecs: "aac", seconds: 2 }] },
    run: 'ffmpeg -i in_1 -i in_2 -filter_complex "[0:a]aresample=44100,aformat=channel_layouts=stereo,asplit[v][key];[1:a][key]sidechaincompress=threshold=0.05:ratio=8[m];[v][m]amix=2[a]" -map [a] out_1',
  },
  {
    name: "makes stereo of two voices and mono of stereo",
    inputs: { in_1: "pauses.wav", in_2: "pauses.wav" },
    outputs: { out_1: ["two.wav", { sound: "16000 2" }], out_2: ["one.wav", { sound: "16000 1" }] },
    run: [
      'ffmpeg -i in_1 -i in_2 -filter_complex "[0:a][1:a]amerge=inputs=2[a]" -map "[a]" -ac 2 out_1',
      'ffmpeg -i out_1 -af "pan=mono|c0=0.5*c0+0.5*c1" out_2',
    ],
  },
  {
    name: "downmixes 5.1 to stereo",
    inputs: { in_1: "surround.wav" },
    outputs: { out_1: ["stereo.wav", { sound: "48000 2" }] },
    run: 'ffmpeg -i {{in_1}} -af "pan=stereo|FL<FL+0.7*FC+0.5*BL|FR<FR+0.7*FC+0.5*BR" {{out_1}}',
  },
  {
    name: "writes each channel to a file",
    inputs: tone,
    outputs: {
      out_1: ["left.wav", { sound: "44100 1" }],
      out_2: ["right.wav", { sound: "44100 1" }],
    },
    run: 'ffmpeg -i in_1 -filter_complex "[0:a]channelsplit=channel_layout=stereo[l][r]" -map "[l]" out_1 -map "[r]" out_2',
  },
  {
    name: "cleans speech",
    inputs: { in_1: "pauses.wav" },
    outputs: { out_1: ["clean.wav", { sound: "16000 1", seconds: 2 }] },
    run: 'ffmpeg -i {{in_1}} -af "highpass=f=100,lowpass=f=7000,afftdn=nf=-25,dynaudnorm,equalizer=f=1000:t=q:w=1:g=2" {{out_1}}',
  },
  {
    name: "delays, echoes and fades",
    inputs: tone,
    outputs: { out_1: ["echo.flac", { codecs: "flac", seconds: 3 }] },
    run: 'ffmpeg -i {{in_1}} -af "adelay=500|500,aecho=0.8:0.9:100:0.3,afade=t=out:st=1.5:d=0.5,apad=pad_dur=0.5" {{out_1}}',
  },
  {
    name: "changes pitch and speed",
    inputs: tone,
    outputs: { out_1: ["high.wav", { seconds: 1.6, sound: "44100 2" }] },
    run: 'ffmpeg -i {{in_1}} -af "asetrate=44100*1.25,aresample=44100" {{out_1}}',
  },
  {
    name: "draws a waveform",
    inputs: tone,
    outputs: { out_1: ["wave.png", { codecs: "png", size: "320x80" }] },
    run: 'ffmpeg -i {{in_1}} -filter_complex "showwavespic=s=320x80:colors=white|gray" -frames:v 1 {{out_1}}',
  },
  {
    name: "draws a spectrum",
    inputs: tone,
    outputs: { out_1: ["spectrum.png", { size: "320x160" }] },
    run: "ffmpeg -i {{in_1}} -lavfi showspectrumpic=s=320x160:legend=0:color=viridis {{out_1}}",
  },
  {
    name: "makes a video that visualizes audio",
    inputs: tone,
    outputs: { out_1: ["dance.mp4", { codecs: "h264 aac", size: "160x120", seconds: 2 }] },
    run: 'ffmpeg -i {{in_1}} -filter_complex "[0:a]asplit=3[a][b][c];[a]showwaves=s=160x60:mode=cline:r=10[w];[b]showcqt=s=160x60:fps=10:axis=0[f];[w][f]vstack,format=yuv420p[v]" -map "[v]" -map "[c]" -preset ultrafast {{out_1}}',
  },
  {
    name: "animates a spectrum and a vector scope",
    inputs: tone,
    outputs: { out_1: ["scope.mp4", { codecs: "h264 aac", size: "320x160" }] },
    run: 'ffmpeg -i {{in_1}} -filter_complex "[0:a]asplit[a][b];[a]showspectrum=s=160x160:slide=scroll,fps=5[s];[b]avectorscope=s=160x160:r=5[v];[s][v]hstack,format=yuv420p" -t 1 -preset ultrafast {{out_1}}',
  },
  {
    name: "replaces the audio of a video",
    inputs: { in_1: "clip.mp4", in_2: "music.mp3" },
    outputs: { out_1: ["new.mp4", { codecs: "h264 aac", seconds: 2 }] },
    run: "ffmpeg -i {{in_1}} -i {{in_2}} -map 0:v:0 -map 1:a:0 -c:v copy -c:a aac -shortest {{out_1}}",
  },
  {
    name: "adds silence to a video without audio",
    inputs: { in_1: "silent.mp4" },
    outputs: { out_1: ["new.mp4", { codecs: "h264 aac", decibels: [-100, -60] }] },
    run: "ffmpeg -i {{in_1}} -f lavfi -i anullsrc=channel_layout=stereo:sample_rate=44100 -c:v copy -c:a aac -shortest {{out_1}}",
  },
]
