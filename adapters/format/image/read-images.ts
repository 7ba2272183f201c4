// Reads what is known about the images of a file: one row each. Pixels are not decoded.
import type { RangeSource } from '../../../daemon/kernel/data/byte-source.ts'
import type { DataBlock } from '../../../daemon/kernel/data/data-block.ts'
import { DataFault } from '../../../daemon/kernel/data/data-fault.ts'
import type { DataReadOptions } from '../../../daemon/kernel/data/read-options.ts'
import { ByteWindow } from './byte-window.ts'
import { FactTable } from './fact-table.ts'
import { heifFormat, readHeif } from './heif-image.ts'
import { type ImageFacts, imageColumns } from './image-facts.ts'
import { jpegMark, readJpeg } from './jpeg-image.ts'
import { readBmp, readGif, readPng, readWebp } from './raster-images.ts'
import { listTiffImages } from './tiff-images.ts'

/** Endings of the formats. */
export const imageExtensions = {
  ...{ jpeg: 'jpg', png: 'png', gif: 'gif', webp: 'webp', bmp: 'bmp', tiff: 'tif', heic: 'heic', avif: 'avif' },
} as const
export type ImageFormat = keyof typeof imageExtensions

/** By the content, whatever the name is. Throws `DataFault` where the file is not an image of a known format, and what the file throws. */
export function detectImageFormat(file: RangeSource): ImageFormat {
  return formatOf(new ByteWindow(file))
}

function formatOf(window: ByteWindow): ImageFormat {
  const first = window.latin(0, Math.min(12, window.size))
  if (first.startsWith(String.fromCharCode(...jpegMark))) return 'jpeg'
  if (first.startsWith('\x89PNG\r\n\x1a\n')) return 'png'
  if (/^GIF8[79]a/.test(first)) return 'gif'
  if (first.startsWith('RIFF') && first.slice(8) === 'WEBP') return 'webp'
  if (/^(II[*+]\0|MM\0[*+])/.test(first)) return 'tiff'
  const heif = heifFormat(window)
  if (heif) return heif
  if (first.startsWith('BM')) return 'bmp'
  const known = Object.keys(imageExtensions).join(', ')
  throw new DataFault(`damaged, or not an image of a known format (${known})`)
}

const readers: Readonly<Record<ImageFormat, (window: ByteWindow) => Iterable<() => ImageFacts>>> = {
  tiff: (window) => listTiffImages(window).map(({ facts }) => facts),
  jpeg: (window) => [() => readJpeg(window)],
  png: (window) => [() => readPng(window)],
  gif: (window) => [() => readGif(window)],
  webp: (window) => [() => readWebp(window)],
  bmp: (window) => [() => readBmp(window)],
  heic: (window) => [() => readHeif(window, 'heic')],
  avif: (window) => [() => readHeif(window, 'avif')],
}

/** The line of a record is the number of the image in the file. Throws `DataFault`, and what the file or `onReject` throws. */
export async function* readImages(
  file: RangeSource,
  options: DataReadOptions,
  onRead: (read_bytes: number) => void = () => undefined,
): AsyncGenerator<DataBlock, void, undefined> {
  onRead(0)
  const window = new ByteWindow(file)
  const table = new FactTable(imageColumns, options)
  let image = 0
  // A file that is damaged has one bad image: others of a folder can be sound.
  for (const read of tryRead(() => readers[formatOf(window)](window), table) ?? []) {
    image++
    const facts = tryRead(read, table)
    if (facts) table.add({ image, ...facts })
  }
  yield table.block()
}

function tryRead<T>(read: () => T, table: FactTable<typeof imageColumns>): T | undefined {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof DataFault)) throw error
    table.refuse(error.reason)
    return undefined
  }
}
