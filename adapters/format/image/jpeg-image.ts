// The size, colours and EXIF of a JPEG, by the segments before its pixels.
import { DataFault } from '../../../daemon/kernel/data/data-fault.ts'
import type { ByteWindow } from './byte-window.ts'
import { readExif } from './exif-facts.ts'
import type { ImageFacts } from './image-facts.ts'

const [startOfImage, endOfImage, startOfScan, exifSegment, adobeSegment] = [0xd8, 0xd9, 0xda, 0xe1, 0xee]
const exifMark = 'Exif\0\0'
/** Frames of all methods; the three numbers between are tables. */
const isFrame = (marker: number) => marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)
/** Programs write notes behind the end of an image. */
const end_search_bytes = 65_536

/** Throws `DataFault`. */
export function readJpeg(window: ByteWindow): ImageFacts {
  let facts: ImageFacts | undefined
  let exif: ImageFacts | undefined
  let adobe: number | undefined
  let at = 2
  for (;;) {
    const [mark, marker = 0] = window.bytes(at, 2)
    if (mark !== 0xff) throw new DataFault('damaged: a segment has no mark')
    if (marker === 0xff) {
      at++
      continue
    }
    if (marker === startOfScan || marker === endOfImage) break
    const length = window.view(at + 2, 2).getUint16(0)
    if (length < 2) throw new DataFault('damaged: a segment has no length')
    const start = at + 4
    if (isFrame(marker)) facts ??= readFrame(window, start)
    if (marker === exifSegment && length > 8 && window.latin(start, 6) === exifMark)
      exif ??= readExif(window, start + 6, length - 8)
    if (marker === adobeSegment && length >= 14 && window.latin(start, 5) === 'Adobe')
      adobe = window.bytes(start + 11, 1)[0]
    at += 2 + length
  }
  if (!facts) throw new DataFault('damaged: it has no frame')
  requireEnd(window, at)
  return { ...exif, ...facts, color: colorOf(facts.samples, adobe) }
}

function readFrame(window: ByteWindow, start: number): { samples: number } & ImageFacts {
  const view = window.view(start, 6)
  const [height, width, samples] = [view.getUint16(1), view.getUint16(3), view.getUint8(5)]
  if (width === 0 || samples === 0) throw new DataFault('damaged: a frame has no size')
  // A height of 0 is stated behind the pixels, which no camera does.
  return {
    format: 'jpeg',
    width,
    height: height === 0 ? undefined : height,
    bits: view.getUint8(0),
    samples,
    compression: 'jpeg',
  }
}

/** As decoders guess it: a segment of Adobe states whether the colours are transformed. */
function colorOf(samples: number | string | undefined, adobe: number | undefined): string {
  if (samples === 1) return 'gray'
  if (samples === 4) return adobe === 2 ? 'ycck' : 'cmyk'
  return adobe === 0 ? 'rgb' : 'ycbcr'
}

/** A small image before the pixels has an end of its own. */
function requireEnd(window: ByteWindow, pixels: number): void {
  const length = Math.min(end_search_bytes, window.size - pixels)
  const bytes = Buffer.from(window.bytes(window.size - length, length))
  if (bytes.lastIndexOf(Buffer.from([0xff, endOfImage])) < 0) throw new DataFault('damaged: it ends within its pixels')
}

export const jpegMark = [0xff, startOfImage, 0xff] as const
