import type { Work } from "./work.ts"

const clip = { in_1: "clip.mp4" }
const film = { in_1: "film.mkv" }

/** Subtitles, streams, tags, containers, bundles, and the ways to write a command. */
export const STREAMS: Work[] = [
  {
    name: "burns subtitles in",
    inputs: { in_1: "dark.mp4", in_2: "words.srt" },
    outputs: { out_1: ["burned.mp4", { luma: [0.4, 80] }] },
    run: "ffmpeg -i {{in_1}} -vf subtitles={{in_2}} -preset ultrafast {{out_1}}",
  },
  {
    name: "burns subtitles in with a style",
    inputs: { in_1: "dark.mp4", in_2: "words.srt" },
    outputs: { out_1: ["burned.mp4", { luma: [3, 160] }] },
    run: "ffmpeg -i in_1 -vf \"subtitles=in_2:charenc=UTF-8:force_style='FontName=DejaVu Sans,FontSize=60,PrimaryColour=&H00FFFFFF,BorderStyle=1,Alignment=10'\" -preset ultrafast out_1",
  },
  {
    name: "burns subtitles in with an uploaded font",
    inputs: { in_1: "dark.mp4", in_2: "words.ass", in_3: "font.ttf" },
    outputs: { out_1: ["burned.mp4", { luma: [3, 160] }] },
    run: "ffmpeg -i in_1 -vf subtitles=filename=in_2:fontsdir=. -preset ultrafast out_1",
  },
  {
    name: "burns ASS in, and a film's own subtitles",
    inputs: { in_1: "dark.mp4", in_2: "words.ass", in_3: "film.mkv" },
    outputs: { out_1: ["a.mp4", { luma: [3, 160] }], out_2: ["b.mp4", { size: "160x120" }] },
    run: [
      "-i in_1 -vf ass=in_2 -preset ultrafast out_1",
      "-i in_3 -vf subtitles=in_3:si=0 -an -sn -preset ultrafast out_2",
    ],
  },
  {
    name: "adds optional subtitles to MP4",
    inputs: { in_1: "clip.mp4", in_2: "words.srt" },
    outputs: { out_1: ["soft.mp4", { codecs: "h264 aac mov_text", languages: "und und ger" }] },
    run: "ffmpeg -i {{in_1}} -i {{in_2}} -map 0 -map 1 -c copy -c:s mov_text -metadata:s:s:0 language=ger -disposition:s:0 default {{out_1}}",
  },
  {
    name: "adds WebVTT to WebM and SRT to Matroska",
    inputs: { in_1: "clip.mp4", in_2: "words.vtt" },
    outputs: {
      out_1: ["soft.webm", { codecs: "vp8 webvtt" }],
      out_2: ["soft.mkv", { codecs: "h264 aac subrip" }],
    },
    run: "ffmpeg -i in_1 -i in_2 -map 0:v -map 1 -c:v libvpx -deadline realtime -c:s webvtt out_1 -map 0 -map 1 -c copy -c:s srt out_2",
  },
  {
    name: "extracts subtitles of a film",
    inputs: film,
    outputs: {
      out_1: ["words.srt", { text: /00:00:00,0\d\d --> 00:00:01,9\d\d\s+The quick brown fox/ }],
      out_2: ["words.vtt", { text: /^WEBVTT\n\n00:00\.0/ }],
      out_3: ["words.ass", { text: /Dialogue: .*The quick brown fox/ }],
    },
    run: "ffmpeg -i {{in_1}} -map 0:s:0 {{out_1}} -map 0:s:0 {{out_2}} -map 0:s:0 {{out_3}}",
  },
  {
    name: "converts and shifts subtitles",
    inputs: { in_1: "words.srt" },
    outputs: { out_1: ["later.vtt", { text: "00:01.000 --> 00:02.900" }] },
    run: "ffmpeg -itsoffset 1 -i {{in_1}} -c:s webvtt {{out_1}}",
  },
  {
    name: "selects streams of every kind",
    inputs: film,
    outputs: {
      out_1: ["all.mkv", { codecs: "h264 aac aac subrip", languages: "eng deu fre" }],
      out_2: ["german.mka", { codecs: "aac", languages: "deu" }],
      out_3: ["rest.mkv", { codecs: "h264 aac" }],
    },
    run: "ffmpeg -i in_1 -map 0 -c copy out_1 -map 0:m:language:deu -c copy out_2 -map 0 -map -0:a:1 -map -0:s -map 0:d? -c copy out_3",
  },
  {
    name: "changes only the container",
    inputs: clip,
    outputs: {
      out_1: ["film.mkv", { format: "matroska", codecs: "h264 aac" }],
      out_2: ["film.mov", { format: "mov", codecs: "h264 aac" }],
      out_3: ["film.flv", { format: "flv", codecs: "h264 aac" }],
    },
    run: "ffmpeg -i {{in_1}} -c copy {{out_1}} -c copy {{out_2}} -c copy {{out_3}}",
  },
  {
    name: "makes a transport stream and a raw one by bitstream filters",
    inputs: clip,
    outputs: {
      out_1: ["film.ts", { format: "mpegts", codecs: "h264 aac" }],
      out_2: ["film.h264", { format: "h264", codecs: "h264" }],
    },
    run: "ffmpeg -i in_1 -c copy -bsf:v h264_mp4toannexb -f mpegts out_1 -an -c:v copy -bsf:v h264_mp4toannexb,h264_metadata=level=4 -f h264 out_2",
  },
  {
    name: "makes MP4 with faststart, and fragmented MP4",
    inputs: clip,
    outputs: {
      out_1: ["fast.mp4", { text: /^[\s\S]{4}ftyp[\s\S]*moov[\s\S]*mdat/ }],
      out_2: ["fragments.mp4", { text: /moof/ }],
    },
    run: "ffmpeg -i in_1 -c copy -movflags +faststart out_1 -c copy -movflags frag_keyframe+empty_moov+default_base_moof out_2",
  },
  {
    name: "sets tags and removes them",
    inputs: { in_1: "music.mp3" },
    outputs: {
      out_1: ["tagged.mp3", { tags: { title: 'Ünïcode: it\'s "x"', artist: "Me & you" } }],
      out_2: ["bare.mp3", { codecs: "mp3" }],
    },
    run: `ffmpeg -i in_1 -c copy -metadata title="Ünïcode: it's \\"x\\"" -metadata "artist=Me & you" out_1 -map_metadata -1 -c copy out_2`,
  },
  {
    name: "adds chapters from a file and writes them out again",
    inputs: { in_1: "clip.mp4", in_2: "chapters.txt" },
    outputs: {
      out_1: ["book.mp4", { chapters: 2, tags: { title: "Two chapters" } }],
      out_2: ["book.txt", { text: /^;FFMETADATA1[\s\S]*title=Second/ }],
    },
    run: [
      "-i in_1 -f ffmetadata -i in_2 -map 0 -map_metadata 1 -map_chapters 1 -c copy out_1",
      "-i out_1 -f ffmetadata out_2",
    ],
  },
  {
    name: "adds a cover to a song",
    inputs: { in_1: "music.mp3", in_2: "photo.jpg" },
    outputs: { out_1: ["song.mp3", { codecs: "mp3 mjpeg", size: "320x240" }] },
    run: 'ffmpeg -i in_1 -i in_2 -map 0:a -map 1:v -c copy -id3v2_version 3 -metadata:s:v title="Album cover" -metadata:s:v comment="Cover (front)" -disposition:v attached_pic out_1',
  },
  {
    name: "removes the cover of a song",
    inputs: { in_1: "covered.mp3" },
    outputs: { out_1: ["cover.jpg", { codecs: "mjpeg", size: "320x240" }] },
    run: "ffmpeg -i {{in_1}} -an -c:v copy {{out_1}}",
  },
  {
    name: "attaches a font to a film",
    inputs: { in_1: "film.mkv", in_2: "font.ttf" },
    outputs: { out_1: ["film.mkv", { codecs: "h264 aac aac subrip ttf" }] },
    run: "ffmpeg -i in_1 -map 0 -c copy -attach in_2 -metadata:s:t:0 mimetype=application/x-truetype-font out_1",
  },
  {
    name: "sets the rotation of a film",
    inputs: clip,
    outputs: { out_1: ["turned.mp4", { codecs: "h264 aac", size: "160x120" }] },
    run: "ffmpeg -i {{in_1}} -c copy -metadata:s:v:0 rotate=90 -aspect 4:3 {{out_1}}",
  },
  {
    name: "writes hashes of frames and of the whole",
    inputs: clip,
    outputs: {
      out_1: ["frames.md5", { text: /^#format: frame checksums[\s\S]*\n0, / }],
      out_2: ["whole.txt", { text: /^MD5=[0-9a-f]{32}$/m }],
      out_3: ["each.txt", { text: /SHA256=/ }],
    },
    run: "ffmpeg -i in_1 -f framemd5 out_1 -f md5 out_2 -f streamhash out_3",
  },
  {
    name: "decodes to the null format and extracts a picture",
    inputs: clip,
    outputs: { out_1: ["one.png", { size: "160x120" }] },
    run: "ffmpeg -v verbose -i in_1 -map 0 -f null - -frames:v 1 -update 1 out_1",
  },
  {
    name: "makes several renditions at once",
    inputs: clip,
    outputs: {
      out_1: ["large.mp4", { size: "128x96" }],
      out_2: ["small.mp4", { size: "64x48" }],
      out_3: ["sound.mp3", { codecs: "mp3" }],
    },
    run: 'ffmpeg -i in_1 -filter_complex "[0:v]split=2[a][b];[a]scale=128:-2[l];[b]scale=64:-2[s]" -map "[l]" -map 0:a -preset ultrafast out_1 -map "[s]" -map 0:a -preset ultrafast out_2 -map 0:a out_3',
  },
  {
    name: "writes to two containers by tee",
    inputs: clip,
    outputs: { out_1: ["a.mp4", { codecs: "h264 aac" }], out_2: ["b.ts", { format: "mpegts" }] },
    run: 'ffmpeg -i {{in_1}} -map 0 -c copy -f tee "[f=mp4]{{out_1}}|[f=mpegts:bsfs/v=h264_mp4toannexb]{{out_2}}"',
  },
  {
    name: "splits a film into segments",
    inputs: clip,
    outputs: {
      out_1: [
        "part_%02d.mp4",
        {
          memberCount: 2,
          members: [/^part_00\.mp4$/, /^part_01\.mp4$/],
          isZip: true,
          codecs: "h264 aac",
        },
      ],
    },
    run: "ffmpeg -i {{in_1}} -c copy -map 0 -f segment -segment_time 1 -reset_timestamps 1 {{out_1}}",
  },
  {
    name: "makes HLS of transport streams",
    inputs: clip,
    outputs: {
      out_1: [
        "film.m3u8",
        {
          text: /^#EXTM3U/,
          members: [/^seg_000\.ts$/, /^seg_001\.ts$/],
          codecs: "h264 aac",
          seconds: 2,
        },
      ],
    },
    run: "ffmpeg -i {{in_1}} -c:v libx264 -preset ultrafast -g 10 -c:a aac -f hls -hls_time 1 -hls_playlist_type vod -hls_segment_filename seg_%03d.ts {{out_1}}",
  },
  {
    name: "makes HLS of fragments",
    inputs: clip,
    outputs: {
      out_1: [
        "film.m3u8",
        { text: "#EXT-X-MAP", members: [/^init\.mp4$/, /^film\d+\.m4s$/], codecs: "h264 aac" },
      ],
    },
    run: "ffmpeg -i in_1 -c copy -f hls -hls_time 1 -hls_segment_type fmp4 -hls_list_size 0 out_1",
  },
  {
    name: "makes HLS in two qualities with a master playlist",
    inputs: clip,
    outputs: {
      out_1: [
        "quality_%v.m3u8",
        { members: [/^quality_0\.m3u8$/, /^quality_1\.m3u8$/, /^main\.m3u8$/, /^q\d_\d+\.ts$/] },
      ],
    },
    run: 'ffmpeg -i in_1 -map 0:v -map 0:a -map 0:v -map 0:a -preset ultrafast -s:v:0 160x120 -s:v:1 80x60 -c:a aac -f hls -hls_time 1 -hls_list_size 0 -master_pl_name main.m3u8 -var_stream_map "v:0,a:0 v:1,a:1" -hls_segment_filename q%v_%d.ts out_1',
  },
  {
    name: "makes DASH",
    inputs: clip,
    outputs: {
      out_1: [
        "film.mpd",
        { text: "<MPD", members: [/^init-stream0\.m4s$/, /^chunk-stream1-00001\.m4s$/] },
      ],
    },
    run: 'ffmpeg -i {{in_1}} -map 0 -c copy -f dash -seg_duration 1 -adaptation_sets "id=0,streams=v id=1,streams=a" {{out_1}}',
  },
  {
    name: "runs commands without the program's name, the second on the output of the first",
    inputs: clip,
    outputs: {
      out_1: ["middle.mkv", { format: "matroska" }],
      out_2: ["end.mp4", { size: "80x60" }],
    },
    run: ["-i in_1 -c copy out_1", "ffmpeg -i out_1 -vf scale=80:60 -preset ultrafast out_2"],
  },
  {
    name: "accepts placeholders with backslashes and with blanks",
    inputs: clip,
    outputs: { out_1: ["a.mp4", { codecs: "h264 aac" }], out_2: ["b.mp4", { codecs: "h264" }] },
    run: String.raw`ffmpeg -i \{\{in_1\}\} -c copy \{\{out_1\}\} -an -c copy {{ out_2 }}`,
  },
  {
    name: "accepts a command over several lines",
    inputs: clip,
    outputs: { out_1: ["a.mp4", { size: "64x64" }] },
    run: 'ffmpeg \\\n  -i in_1 \\\n  -vf "scale=64:64" \\\n  -an \\\n  -preset ultrafast \\\n  out_1\n',
  },
  {
    name: "accepts custom keys and names, with umlauts and blanks",
    inputs: { video: "clip.mp4", LOGO_2: "logo.png" },
    outputs: { result: ["Größe (final) 2.mp4", { size: "160x120" }] },
    run: "ffmpeg -i '{{video}}' -i \"{{LOGO_2}}\" -filter_complex 'overlay=0:0' -an -preset ultrafast '{{result}}'",
  },
  {
    name: "makes an empty sound with -y and a quiet log",
    outputs: { out_1: ["none.wav", { seconds: 1, sound: "8000 1" }] },
    run: "ffmpeg -y -nostdin -hide_banner -loglevel warning -nostats -threads 2 -f lavfi -i anullsrc=r=8000:cl=mono -t 1 out_1",
  },
]
