// The size, colours and EXIF of a HEIC or AVIF image, by the boxes of its description (ISO/IEC 23008-12). Its pixels are not decoded.
import { DataFault } from '../../../daemon/kernel/data/data-fault.ts'
import type { ByteWindow } from './byte-window.ts'
import { readExif } from './exif-facts.ts'
import type { ImageFacts } from './image-facts.ts'

type Box = { readonly kind: string; readonly start: number; readonly end: number }
type Extent = { readonly start: number; readonly length: number }

/** Versions and flags before the content of some boxes. */
const full_bytes = 4
const max_boxes = 4_096
const max_items = 65_536
const avifBrands: ReadonlySet<string> = new Set(['avif', 'avis'])
const heicBrands: ReadonlySet<string> = new Set(['heic', 'heix', 'heim', 'heis', 'hevc', 'hevx', 'mif1', 'msf1'])

/** The brand that a file has; undefined where it is not an image of this kind. */
export function heifFormat(window: ByteWindow): 'heic' | 'avif' | undefined {
  if (window.size < 16 || window.latin(4, 4) !== 'ftyp') return undefined
  const length = Math.min(window.view(0, 4).getUint32(0), window.size, 256)
  const brands = [window.latin(8, 4)]
  for (let at = 16; at + 4 <= length; at += 4) brands.push(window.latin(at, 4))
  if (brands.some((brand) => avifBrands.has(brand))) return 'avif'
  return brands.some((brand) => heicBrands.has(brand)) ? 'heic' : undefined
}

/** Of the primary image. Throws `DataFault`. */
export function readHeif(window: ByteWindow, format: 'heic' | 'avif'): ImageFacts {
  const meta = requireBox(listBoxes(window, 0, window.size), 'meta')
  const parts = listBoxes(window, meta.start + full_bytes, meta.end)
  const primary = readPrimary(window, requireBox(parts, 'pitm'))
  const places = findBox(parts, 'iloc')
  const exifItem = findItem(window, findBox(parts, 'iinf'), 'Exif')
  const properties = primaryProperties(window, requireBox(parts, 'iprp'), primary)
  const [width, height] = sizeOf(window, properties)
  const extent = places && exifItem !== undefined ? locate(window, places, exifItem) : undefined
  return {
    ...(extent && readItemExif(window, extent)),
    ...{ format, width, height, ...depthOf(window, findBox(properties, 'pixi')) },
    orientation: orientationOf(window, properties),
    compression: format === 'avif' ? 'av1' : 'hevc',
  }
}

function uint(window: ByteWindow, at: number, bytes: number): number {
  let value = 0
  if (bytes > 0) for (const byte of window.bytes(at, bytes)) value = value * 256 + byte
  return value
}

function listBoxes(window: ByteWindow, from: number, end: number): Box[] {
  const boxes: Box[] = []
  for (let at = from; at + 8 <= end; ) {
    if (boxes.length === max_boxes) throw new DataFault(`damaged: more than ${max_boxes} parts`)
    const stated = uint(window, at, 4)
    const head = stated === 1 ? 16 : 8
    // A size of 0 is the rest of the file.
    const length = stated === 1 ? uint(window, at + 8, 8) : stated === 0 ? end - at : stated
    if (length < head || at + length > end) throw new DataFault('damaged: a part lies beyond its end')
    boxes.push({ kind: window.latin(at + 4, 4), start: at + head, end: at + length })
    at += length
  }
  return boxes
}

function findBox(boxes: readonly Box[], kind: string): Box | undefined {
  return boxes.find((box) => box.kind === kind)
}

function requireBox(boxes: readonly Box[], kind: string): Box {
  const found = findBox(boxes, kind)
  if (!found) throw new DataFault(`damaged: it has no part ${kind}`)
  return found
}

function readPrimary(window: ByteWindow, { start }: Box): number {
  return uint(window, start + full_bytes, uint(window, start, 1) === 0 ? 2 : 4)
}

/** The number of the first item of this kind. */
function findItem(window: ByteWindow, list: Box | undefined, kind: string): number | undefined {
  if (!list) return undefined
  const countBytes = uint(window, list.start, 1) === 0 ? 2 : 4
  for (const { kind: box, start } of listBoxes(window, list.start + full_bytes + countBytes, list.end)) {
    const version = box === 'infe' ? uint(window, start, 1) : 0
    if (version < 2) continue
    const idBytes = version === 2 ? 2 : 4
    if (window.latin(start + full_bytes + idBytes + 2, 4) === kind) return uint(window, start + full_bytes, idBytes)
  }
  return undefined
}

/** The properties that are assigned to the item. */
function primaryProperties(window: ByteWindow, box: Box, item: number): Box[] {
  const parts = listBoxes(window, box.start, box.end)
  const container = requireBox(parts, 'ipco')
  const all = listBoxes(window, container.start, container.end)
  const { start, end } = requireBox(parts, 'ipma')
  const [version, flags] = [uint(window, start, 1), uint(window, start + 3, 1)]
  const [idBytes, indexBytes] = [version === 0 ? 2 : 4, flags & 1 ? 2 : 1]
  const count = uint(window, start + full_bytes, 4)
  if (count > max_items) throw new DataFault(`damaged: more than ${max_items} items`)
  let at = start + full_bytes + 4
  for (let entry = 0; entry < count && at < end; entry++) {
    const id = uint(window, at, idBytes)
    const properties = uint(window, at + idBytes, 1)
    at += idBytes + 1
    if (id === item)
      return Array.from({ length: properties }, (_, index) => {
        const value = uint(window, at + index * indexBytes, indexBytes)
        // The first bit states whether the property is essential.
        return all[(value & (indexBytes === 2 ? 0x7fff : 0x7f)) - 1]
      }).filter((property) => property !== undefined)
    at += properties * indexBytes
  }
  throw new DataFault('damaged: its image has no properties')
}

/** Where the first part of an item is; undefined where it is not in the file itself. */
function locate(window: ByteWindow, { start, end }: Box, item: number): Extent | undefined {
  const version = uint(window, start, 1)
  const sizes = uint(window, start + full_bytes, 2)
  const [offsetBytes, lengthBytes, baseBytes] = [sizes >> 12, (sizes >> 8) & 15, (sizes >> 4) & 15]
  const indexBytes = version === 0 ? 0 : sizes & 15
  const idBytes = version < 2 ? 2 : 4
  const count = uint(window, start + full_bytes + 2, idBytes)
  if (count > max_items) throw new DataFault(`damaged: more than ${max_items} items`)
  let at = start + full_bytes + 2 + idBytes
  for (let entry = 0; entry < count && at < end; entry++) {
    const id = uint(window, at, idBytes)
    at += idBytes
    const method = version === 0 ? 0 : uint(window, at, 2) & 15
    at += (version === 0 ? 0 : 2) + 2
    const base = uint(window, at, baseBytes)
    at += baseBytes
    const extents = uint(window, at, 2)
    at += 2
    if (id === item && extents === 1 && method === 0) {
      const offset = uint(window, at + indexBytes, offsetBytes)
      return { start: base + offset, length: uint(window, at + indexBytes + offsetBytes, lengthBytes) }
    }
    at += extents * (indexBytes + offsetBytes + lengthBytes)
  }
  return undefined
}

/** Begins with the place of the TIFF within it. */
function readItemExif(window: ByteWindow, { start, length }: Extent): ImageFacts {
  if (length < 4 || start + length > window.size) throw new DataFault('damaged: a part lies beyond its end')
  const before = 4 + uint(window, start, 4)
  return before < length ? readExif(window, start + before, length - before) : {}
}

/** Pixels that are coded are cut to those that are shown. */
function sizeOf(window: ByteWindow, properties: readonly Box[]): readonly [width: number, height: number] {
  const size = requireBox(properties, 'ispe').start + full_bytes
  const shown = findBox(properties, 'clap')?.start
  const width = shown === undefined ? uint(window, size, 4) : uint(window, shown, 4) / uint(window, shown + 4, 4)
  const height =
    shown === undefined ? uint(window, size + 4, 4) : uint(window, shown + 8, 4) / uint(window, shown + 12, 4)
  const sizes = [Math.round(width), Math.round(height)] as const
  if (!sizes.every((each) => each >= 1 && Number.isFinite(each))) throw new DataFault('damaged: it has no size')
  return sizes
}

function depthOf(window: ByteWindow, box: Box | undefined): ImageFacts {
  if (!box) return {}
  const samples = uint(window, box.start + full_bytes, 1)
  const bits = samples > 0 ? uint(window, box.start + full_bytes + 1, 1) : undefined
  return { samples, bits, color: samples === 1 ? 'gray' : 'ycbcr' }
}

/** Turns by a quarter against the clock, as EXIF numbers them. EXIF of such a file does not count. */
const orientations = [1, 8, 3, 6] as const

function orientationOf(window: ByteWindow, properties: readonly Box[]): number | undefined {
  const turn = findBox(properties, 'irot')
  return turn ? orientations[uint(window, turn.start, 1) & 3] : 1
}
