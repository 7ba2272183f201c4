// Directories of tags as TIFF, BigTIFF and EXIF have them. Nothing is read for what a tag claims before its bytes are in the file.
import { DataFault } from '../../../daemon/kernel/data/data-fault.ts'
import type { ByteWindow } from './byte-window.ts'

/** Bytes of a value by the number of its type. */
const type_bytes: Readonly<Record<number, number>> = {
  ...{ 1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 1, 8: 2, 9: 4, 10: 8, 11: 4, 12: 8, 13: 4, 16: 8, 17: 8, 18: 8 },
}
const ascii = 2
const undefined_bytes = 7
const max_directories = 4_096
/** Of all directories: those of a small file may overlap. */
const max_tags = 262_144
const max_text_bytes = 65_536
const max_numbers = 65_536

type TiffTag = { readonly type: number; readonly count: number; readonly start: number }

export class TiffFile {
  readonly window: ByteWindow
  readonly isLittle: boolean
  readonly #isBig: boolean
  readonly #first: number
  #directories = 0
  #tags = 0

  /** Throws `DataFault` where this is not a TIFF. */
  constructor(window: ByteWindow) {
    this.window = window
    const mark = window.latin(0, 2)
    if (mark !== 'II' && mark !== 'MM') throw new DataFault('damaged, or not a TIFF')
    this.isLittle = mark === 'II'
    const version = window.view(2, 2).getUint16(0, this.isLittle)
    if (version !== 42 && version !== 43) throw new DataFault('damaged, or not a TIFF')
    this.#isBig = version === 43
    this.#first = this.#isBig ? this.#long(8) : this.#int(4)
  }

  #int(at: number): number {
    return this.window.view(at, 4).getUint32(0, this.isLittle)
  }

  #long(at: number): number {
    return Number(this.window.view(at, 8).getBigUint64(0, this.isLittle))
  }

  /** Each directory of the chain. Throws `DataFault` for a chain without an end. */
  *directories(): Generator<TiffDirectory, void, undefined> {
    const visited = new Set<number>()
    for (let at = this.#first; at !== 0; ) {
      if (visited.has(at)) throw new DataFault('damaged: its directories refer to one another')
      visited.add(at)
      const { directory, next } = this.#read(at)
      yield directory
      at = next
    }
  }

  /** The directory at this place, outside of the chain. */
  directoryAt(start: number): TiffDirectory {
    return this.#read(start).directory
  }

  #read(start: number): { readonly directory: TiffDirectory; readonly next: number } {
    if (++this.#directories > max_directories) throw new DataFault(`more than ${max_directories} directories`)
    const [head_bytes, tag_bytes] = this.#isBig ? [8, 20] : [2, 12]
    const count = this.#isBig ? this.#long(start) : this.window.view(start, 2).getUint16(0, this.isLittle)
    this.#tags += count
    if (this.#tags > max_tags) throw new DataFault(`more than ${max_tags} tags`)
    const tags = new Map<number, TiffTag>()
    for (let index = 0; index < count; index++) {
      const at = start + head_bytes + index * tag_bytes
      const view = this.window.view(at, tag_bytes)
      const [tag, type] = [view.getUint16(0, this.isLittle), view.getUint16(2, this.isLittle)]
      const values = this.#isBig ? Number(view.getBigUint64(4, this.isLittle)) : view.getUint32(4, this.isLittle)
      const bytes = values * (type_bytes[type] ?? 0)
      const [inside, at_value] = this.#isBig ? [8, at + 12] : [4, at + 8]
      const place = bytes <= inside ? at_value : this.#isBig ? this.#long(at_value) : this.#int(at_value)
      if (!tags.has(tag)) tags.set(tag, { type, count: values, start: place })
    }
    const end = start + head_bytes + count * tag_bytes
    // EXIF of some cameras ends with its tags.
    const hasNext = end + (this.#isBig ? 8 : 4) <= this.window.size
    const next = hasNext ? (this.#isBig ? this.#long(end) : this.#int(end)) : 0
    return { directory: new TiffDirectory(this, tags), next }
  }
}

/** The values of the tags of one directory; those that are missing, or of another type, are undefined. */
export class TiffDirectory {
  readonly file: TiffFile
  readonly #tags: ReadonlyMap<number, TiffTag>

  constructor(file: TiffFile, tags: ReadonlyMap<number, TiffTag>) {
    this.file = file
    this.#tags = tags
  }

  has(tag: number): boolean {
    return this.#tags.has(tag)
  }

  count(tag: number): number {
    return this.#tags.get(tag)?.count ?? 0
  }

  number(tag: number): number | undefined {
    return this.range(tag, 0, Math.min(1, this.count(tag)))?.[0]
  }

  /** A place, a size or a code: these are integers, whatever type the tag has. */
  integer(tag: number): number | undefined {
    const value = this.number(tag)
    return value !== undefined && Number.isSafeInteger(value) && value >= 0 ? value : undefined
  }

  /** All values, of which there may be 65,536. */
  numbers(tag: number): readonly number[] | undefined {
    const count = this.count(tag)
    if (count > max_numbers) throw new DataFault(`damaged: the tag ${tag} has ${count} values`)
    return this.range(tag, 0, count)
  }

  /** Throws `DataFault` where the file does not have all values that the tag claims. */
  range(tag: number, from: number, to: number): number[] | undefined {
    const found = this.#tags.get(tag)
    const bytes = type_bytes[found?.type ?? 0]
    if (!found || bytes === undefined || found.type === ascii || found.type === undefined_bytes) return undefined
    const { window } = this.file
    if (found.start + found.count * bytes > window.size)
      throw new DataFault(`damaged: the values of the tag ${tag} lie beyond its end`)
    const view = window.view(found.start + from * bytes, (to - from) * bytes)
    return Array.from({ length: to - from }, (_, at) => readNumber(view, at * bytes, found.type, this.file.isLittle))
  }

  /** Of UTF-8 or Latin-1, without what follows a zero byte. */
  text(tag: number): string | undefined {
    const bytes = this.bytes(tag)
    if (!bytes) return undefined
    const end = bytes.indexOf(0)
    const text = decodeText(end < 0 ? bytes : bytes.subarray(0, end)).trim()
    return text === '' ? undefined : text
  }

  /** Bytes of a text, or of a value without a type. */
  bytes(tag: number): Uint8Array | undefined {
    const found = this.#tags.get(tag)
    if (!found || (found.type !== ascii && found.type !== undefined_bytes && found.type !== 1)) return undefined
    return this.file.window.bytes(found.start, Math.min(found.count, max_text_bytes))
  }
}

const strict = new TextDecoder('utf-8', { fatal: true })
const latin = new TextDecoder('windows-1252')

function decodeText(bytes: Uint8Array): string {
  try {
    return strict.decode(bytes)
  } catch {
    return latin.decode(bytes)
  }
}

function readNumber(view: DataView, at: number, type: number, isLittle: boolean): number {
  switch (type) {
    case 1:
      return view.getUint8(at)
    case 6:
      return view.getInt8(at)
    case 3:
      return view.getUint16(at, isLittle)
    case 8:
      return view.getInt16(at, isLittle)
    case 9:
      return view.getInt32(at, isLittle)
    case 5:
      return view.getUint32(at, isLittle) / view.getUint32(at + 4, isLittle)
    case 10:
      return view.getInt32(at, isLittle) / view.getInt32(at + 4, isLittle)
    case 11:
      return view.getFloat32(at, isLittle)
    case 12:
      return view.getFloat64(at, isLittle)
    case 16:
    case 18:
      return Number(view.getBigUint64(at, isLittle))
    case 17:
      return Number(view.getBigInt64(at, isLittle))
    default:
      return view.getUint32(at, isLittle)
  }
}
