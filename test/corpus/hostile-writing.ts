import { PICTURE, TONE } from "./attack.ts"
import type { Attack } from "./attack.ts"

const X264 = `${PICTURE} -pix_fmt yuv420p -c:v libx264`
const X265 = `${PICTURE} -pix_fmt yuv420p -c:v libx265 -preset ultrafast`
/** An output that is what it should be, beside the one that is not. */
const PLAIN = `${TONE} -f u8 out_1`

/** Attacks that want a file where they have no place to write. */
export const WRITING: Attack[] = [
  { name: "an output", words: ({ outside }) => `${TONE} ${outside}/out.wav -f u8 out_1` },
  {
    name: "a path with ../",
    words: ({ outside }) => `${TONE} ../../../../../../..${outside}/out.wav -f u8 out_1`,
  },
  {
    name: "an output with file:",
    words: ({ outside }) => `${TONE} file:${outside}/out.wav -f u8 out_1`,
  },
  {
    name: "an existing file",
    words: ({ outside }) => `${TONE} -f u8 ${outside}/secret -f u8 out_1`,
  },
  { name: "/tmp", words: ({ name }) => `${TONE} -f wav /tmp/${name} -f u8 out_1` },
  { name: "/dev/shm", words: ({ name }) => `${TONE} -f wav /dev/shm/${name} -f u8 out_1` },
  { name: "/var/tmp", words: ({ name }) => `${TONE} -f wav /var/tmp/${name} -f u8 out_1` },
  {
    name: "the service's state",
    words: ({ state, name }) => `${TONE} -f wav ${state}/${name} -f u8 out_1`,
  },
  { name: "beside the workspace", words: ({ name }) => `${TONE} -f wav ../${name} -f u8 out_1` },
  { name: "md5:", words: ({ outside }) => `${TONE} -f wav md5:${outside}/sum -f u8 out_1` },
  {
    name: "crypto:",
    words: ({ outside }) =>
      `${TONE} -encryption_key 00112233445566778899aabbccddeeff -encryption_iv 00112233445566778899aabbccddeeff -f u8 crypto:${outside}/out -f u8 out_1`,
  },
  {
    name: "a hash of the output",
    words: ({ outside }) => `${TONE} -f md5 ${outside}/sum -f u8 out_1`,
  },
  {
    name: "tags of the output",
    words: ({ outside }) => `${TONE} -f ffmetadata ${outside}/tags -f u8 out_1`,
  },
  {
    name: "a series of pictures",
    words: ({ outside }) => `${PICTURE} ${outside}/%d.png -f rawvideo out_1`,
  },
  {
    name: "a repeatedly updated picture",
    words: ({ outside }) => `${PICTURE} -f image2 -update 1 ${outside}/one.png -f rawvideo out_1`,
  },
  {
    name: "a pass log",
    words: ({ outside }) => `${X264} -pass 1 -passlogfile ${outside}/log -f rawvideo out_1`,
  },
  { name: "progress", words: ({ outside }) => `-progress ${outside}/progress ${PLAIN}` },
  {
    name: "statistics of the video",
    words: ({ outside }) => `${X264} -vstats_file ${outside}/stats -f rawvideo out_1`,
  },
  {
    name: "statistics of the encoder, by the new syntax",
    words: ({ outside }) => `${X264} -enc_stats_pre ${outside}/stats -f rawvideo out_1`,
    unproven: "ffmpeg 6 has it",
  },
  {
    name: "tee",
    words: ({ outside }) =>
      `${TONE} -map 0 -c:a pcm_u8 -f tee "[f=wav]${outside}/tee.wav|[f=u8]{{out_1}}"`,
  },
  {
    name: "tee without options",
    words: ({ outside }) =>
      `${TONE} -map 0 -c:a pcm_u8 -f tee "${outside}/tee.wav|[f=u8]{{out_1}}"`,
  },
  {
    name: "tee with the path in quotes",
    words: ({ outside }) =>
      String.raw`${TONE} -map 0 -c:a pcm_u8 -f tee "[f=wav:onfail=ignore]'${outside}'/te\e.wav|[f=u8]{{out_1}}"`,
  },
  {
    name: "a fifo",
    words: ({ outside }) =>
      `${TONE} -c:a pcm_u8 -f fifo -fifo_format wav -map 0 ${outside}/fifo.wav -f u8 out_1`,
  },
  {
    name: "segments",
    words: ({ outside }) => `${TONE} -f segment ${outside}/segment%d.wav -f u8 out_1`,
  },
  {
    name: "a list of segments",
    words: ({ outside }) =>
      `${TONE} -f segment -segment_list ${outside}/list.csv segment%d.wav -f u8 out_1`,
  },
  {
    name: "segments of HLS",
    words: ({ outside }) => `${TONE} -c:a aac -f hls -hls_segment_filename ${outside}/%d.ts out_1`,
    outputs: { out_1: "out.m3u8" },
  },
  {
    name: "an initialization segment of HLS",
    words: ({ outside }) =>
      `${TONE} -c:a aac -f hls -hls_segment_type fmp4 -hls_fmp4_init_filename ../../../../../../..${outside}/init.mp4 out_1`,
    outputs: { out_1: "out.m3u8" },
  },
  {
    name: "a base of HLS",
    words: ({ outside }) => `${TONE} -c:a aac -f hls ${outside}/out.m3u8 -f u8 out_1`,
  },
  {
    name: "segments of DASH",
    words: ({ outside }) =>
      `${TONE} -c:a aac -f dash -init_seg_name ../../../../../../..${outside}/init.m4s -media_seg_name ../../../../../../..${outside}/media.m4s out_1`,
    outputs: { out_1: "out.mpd" },
  },
  {
    name: "a folder by smoothstreaming",
    words: ({ outside }) => `${X264} -f smoothstreaming ${outside}/folder -f rawvideo out_1`,
  },
  {
    name: "a folder by hds",
    words: ({ outside }) => `${X264} -f hds ${outside}/folder -f rawvideo out_1`,
  },
  {
    name: "a header of webm_chunk",
    words: ({ outside }) =>
      `${PICTURE} -map 0:v -c:v libvpx -f webm_chunk -header ${outside}/header.webm chunk_%d.chk -f rawvideo out_1`,
  },
  {
    name: "a description of a session",
    words: ({ outside, udpPort }) =>
      `${TONE} -sdp_file ${outside}/session -f rtp rtp://127.0.0.1:${udpPort} -f u8 out_1`,
  },
  {
    name: "a dumped attachment",
    words: ({ outside }) => `-dump_attachment:t ${outside}/dumped -i in_1 -f u8 out_1`,
    inputs: () => ({
      in_1: ["a.mkv", { made: `${TONE} -attach note.txt -metadata:s:t mimetype=text/plain` }],
    }),
  },
  {
    name: "an attachment that names its own path",
    words: () => '-dump_attachment:t "" -i in_1 -f u8 out_1',
    inputs: ({ outside }) => ({
      in_1: [
        "a.mkv",
        {
          made: `${TONE} -attach note.txt -metadata:s:t mimetype=text/plain -metadata:s:t filename=${outside}/dumped`,
        },
      ],
    }),
  },
  {
    name: "a filter's log of tags",
    words: ({ outside }) =>
      `${PICTURE} -vf metadata=print:file=${outside}/printed -f rawvideo out_1`,
  },
  {
    name: "a filter's log of a sound's tags",
    words: ({ outside }) =>
      String.raw`${TONE} -af "ametadata=mode=print:fi\le='${outside}/printed'" -f u8 out_1`,
  },
  {
    name: "a filter's log of differences",
    words: ({ outside }) => `${PICTURE} ${PICTURE} -lavfi psnr=f=${outside}/psnr -f rawvideo out_1`,
  },
  {
    name: "a filter's log of similarity",
    words: ({ outside }) =>
      `${PICTURE} ${PICTURE} -lavfi "[0][1]ssim=stats_file=${outside}/ssim" -f rawvideo out_1`,
  },
  {
    name: "movements found by vidstab",
    words: ({ outside }) =>
      `${PICTURE} -vf vidstabdetect=result=${outside}/transforms -f rawvideo out_1`,
  },
  {
    name: "a signature",
    words: ({ outside }) =>
      `-f lavfi -i testsrc2=s=64x64:d=1 -vf signature=filename=${outside}/signature -f rawvideo out_1`,
  },
  ...["stats=@:pass=1", "dump-yuv=@", "pass=1:stats='@'"].map((value): Attack => ({
    name: `the x264 parameter ${value.replace("@", "FILE")}`,
    words: ({ outside }) =>
      `${X264} -x264-params "${value.replace("@", `${outside}/x264`)}" -f rawvideo out_1`,
    ...(value.includes("'") && { unproven: "quotes have no effect there" }),
  })),
  {
    name: "the option -x264opts",
    words: ({ outside }) => `${X264} -x264opts pass=1:stats=${outside}/x264 -f rawvideo out_1`,
  },
  ...["csv=@", "analysis-save=@", "pass=1:stats=@", "recon=@"].map((value): Attack => ({
    name: `the x265 parameter ${value.replace("@", "FILE")}`,
    words: ({ outside }) =>
      `${X265} -x265-params ${value.replace("@", `${outside}/x265`)} -f rawvideo out_1`,
    ...(value.startsWith("recon") && { unproven: "only x265's own program takes it" }),
  })),
  {
    name: "a pass log of VP9",
    words: ({ outside }) =>
      `${PICTURE} -c:v libvpx-vp9 -pass 1 -passlogfile ${outside}/vp9 -f rawvideo out_1`,
  },
  {
    name: "a report",
    words: ({ outside }) => `-report ${TONE} -f u8 out_1 -report ${outside}/report`,
    unproven: "it lies in the workspace alone",
  },
  {
    name: "an entry after a harmless one",
    words: ({ outside }) => [`${TONE} -f u8 out_1`, `-f u8 -i out_1 ${outside}/second.wav`],
  },
]
