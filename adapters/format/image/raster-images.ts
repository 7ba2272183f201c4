// The size and colours of PNG, GIF, WebP and BMP images, with the EXIF that PNG and WebP may have.
import { DataFault } from '../../../daemon/kernel/data/data-fault.ts'
import type { ByteWindow } from './byte-window.ts'
import { readExif } from './exif-facts.ts'
import type { ImageFacts } from './image-facts.ts'

const pngColors: Readonly<Record<number, readonly [color: string, samples: number]>> = {
  ...{ 0: ['gray', 1], 2: ['rgb', 3], 3: ['palette', 1], 4: ['gray-alpha', 2], 6: ['rgba', 4] },
}

/** Throws `DataFault`, also where the image does not have its last part. */
export function readPng(window: ByteWindow): ImageFacts {
  const head = window.view(8, 21)
  if (window.latin(12, 4) !== 'IHDR') throw new DataFault('damaged: it does not begin with its header')
  const [width, height, bits] = [head.getUint32(8), head.getUint32(12), head.getUint8(16)]
  const [color, samples] = pngColors[head.getUint8(17)] ?? []
  if (width === 0 || height === 0 || color === undefined) throw new DataFault('damaged: it has no size or colours')
  let exif: ImageFacts | undefined
  for (let at = 8; ; ) {
    const length = window.view(at, 8).getUint32(0)
    const kind = window.latin(at + 4, 4)
    if (at + 12 + length > window.size) throw new DataFault('damaged: it ends within a part')
    if (kind === 'IEND') break
    if (kind === 'eXIf') exif ??= readExif(window, at + 8, length)
    at += 12 + length
  }
  return { ...exif, format: 'png', width, height, bits, samples, color, compression: 'deflate' }
}

/** Of the screen that its frames share. Throws `DataFault`. */
export function readGif(window: ByteWindow): ImageFacts {
  const view = window.view(6, 7)
  const [width, height] = [view.getUint16(0, true), view.getUint16(2, true)]
  if (width === 0 || height === 0) throw new DataFault('damaged: it has no size')
  if (window.bytes(window.size - 1, 1)[0] !== 0x3b) throw new DataFault('damaged: it does not end with its last part')
  const bits = (view.getUint8(4) & 7) + 1
  return { format: 'gif', width, height, bits, samples: 1, color: 'palette', compression: 'lzw' }
}

const hasAlpha = 0x10

/** Throws `DataFault`. */
export function readWebp(window: ByteWindow): ImageFacts {
  const end = window.view(4, 4).getUint32(0, true) + 8
  if (end > window.size) throw new DataFault('damaged: it ends too early')
  let facts: ImageFacts | undefined
  let exif: ImageFacts | undefined
  for (let at = 12; at + 8 <= end; ) {
    const kind = window.latin(at, 4)
    const length = window.view(at + 4, 4).getUint32(0, true)
    const start = at + 8
    if (start + length > end) throw new DataFault('damaged: a part lies beyond its end')
    if (kind === 'VP8X') facts = readExtended(window.view(start, 10))
    else if (kind === 'VP8 ') facts = { ...readLossy(window.view(start, 10)), ...facts }
    else if (kind === 'VP8L') facts = { ...readLossless(window.view(start, 5)), ...facts }
    else if (kind === 'EXIF') exif ??= readExifChunk(window, start, length)
    at = start + length + (length % 2)
  }
  if (!facts) throw new DataFault('damaged: it has no image')
  return { ...exif, format: 'webp', bits: 8, ...facts }
}

function readExtended(view: DataView): ImageFacts {
  const size = (at: number) => view.getUint16(at, true) + view.getUint8(at + 2) * 65_536 + 1
  return { width: size(4), height: size(7), ...webpColors((view.getUint8(0) & hasAlpha) !== 0) }
}

function readLossy(view: DataView): ImageFacts {
  const isKey = view.getUint8(3) === 0x9d && view.getUint8(4) === 0x01 && view.getUint8(5) === 0x2a
  if (!isKey) throw new DataFault('damaged: it has no first frame')
  const [width, height] = [view.getUint16(6, true) & 0x3fff, view.getUint16(8, true) & 0x3fff]
  return { width, height, compression: 'vp8', ...webpColors(false) }
}

function readLossless(view: DataView): ImageFacts {
  if (view.getUint8(0) !== 0x2f) throw new DataFault('damaged: it has no image')
  const packed = view.getUint32(1, true)
  const [width, height] = [(packed & 0x3fff) + 1, ((packed >>> 14) & 0x3fff) + 1]
  return { width, height, compression: 'vp8l', ...webpColors(((packed >>> 28) & 1) === 1) }
}

function webpColors(isTransparent: boolean): ImageFacts {
  return isTransparent ? { color: 'rgba', samples: 4 } : { color: 'rgb', samples: 3 }
}

/** Some programs write the mark of a JPEG before it. */
function readExifChunk(window: ByteWindow, start: number, length: number): ImageFacts {
  const before = length > 6 && window.latin(start, 6) === 'Exif\0\0' ? 6 : 0
  return readExif(window, start + before, length - before)
}

const bmpCompressions: Readonly<Record<number, string>> = {
  ...{ 0: 'none', 1: 'rle8', 2: 'rle4', 3: 'none', 4: 'jpeg', 5: 'png', 6: 'none' },
}
const oldHeader = 12

/** Throws `DataFault`. */
export function readBmp(window: ByteWindow): ImageFacts {
  const [pixels, header] = [window.view(10, 4).getUint32(0, true), window.view(14, 4).getUint32(0, true)]
  if (pixels > window.size) throw new DataFault('damaged: it ends before its pixels')
  const isOld = header === oldHeader
  if (!isOld && header < 40) throw new DataFault('damaged: it has no known header')
  const view = window.view(18, isOld ? 8 : 16)
  const width = isOld ? view.getUint16(0, true) : view.getInt32(0, true)
  // Rows from the top to the bottom have a negative height.
  const height = Math.abs(isOld ? view.getUint16(2, true) : view.getInt32(4, true))
  const depth = view.getUint16(isOld ? 6 : 10, true)
  const method = isOld ? 0 : view.getUint32(12, true)
  if (width < 1 || height === 0) throw new DataFault('damaged: it has no size')
  const rowBytes = Math.ceil((width * depth) / 32) * 4
  if ((method === 0 || method === 3) && pixels + rowBytes * height > window.size)
    throw new DataFault('damaged: it ends within its pixels')
  const samples = depth <= 8 ? 1 : depth === 32 ? 4 : 3
  const color = depth <= 8 ? 'palette' : 'rgb'
  const bits = depth <= 8 ? depth : depth === 16 ? 5 : 8
  return { format: 'bmp', width, height, bits, samples, color, compression: bmpCompressions[method] ?? String(method) }
}
