// Reads one stream of an OLE compound file ([MS-CFB]) by ranges. Chains of sectors are followed no further than the file has sectors.
import type { RangeSource } from '../../../daemon/kernel/data/byte-source.ts'
import { DataFault } from '../../../daemon/kernel/data/data-fault.ts'

const header_bytes = 512
const entry_bytes = 128
const [endOfChain, max_sector, none] = [0xffff_fffe, 0xffff_fffa, 0xffff_ffff]
/** FAT sectors that the header names itself. */
const header_fat_sectors = 109
/** Files of version 3 have no more, and Excel writes no others. */
const max_file_bytes = 2_147_483_648
const max_entries = 65_536
const signature = [0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1]

type DirectoryEntry = {
  readonly name: string
  /** 1 is a storage, 2 a stream. */
  readonly kind: number
  readonly left: number
  readonly right: number
  readonly child: number
  readonly start: number
  readonly size: number
}

export function isCompoundFile(file: RangeSource): boolean {
  const bytes = new Uint8Array(file.read(0, Math.min(signature.length, file.size)))
  return signature.every((byte, at) => bytes[at] === byte)
}

/** The streams of the root by name in capitals. Throws `DataFault`, and what the file throws. */
export class CompoundFile {
  readonly #file: RangeSource
  readonly #sector_bytes: number
  readonly #mini_bytes: number
  readonly #mini_cutoff: number
  readonly #fat: Uint32Array
  readonly #miniFat: Uint32Array
  readonly #miniStream: RangeSource
  readonly #streams: ReadonlyMap<string, DirectoryEntry>

  constructor(file: RangeSource) {
    if (file.size > max_file_bytes) throw new DataFault(`more than ${max_file_bytes} bytes`)
    if (file.size < header_bytes) throw damaged('it ends within its header')
    this.#file = file
    const header = new DataView(file.read(0, header_bytes))
    const [sector_bits, mini_bits] = [header.getUint16(30, true), header.getUint16(32, true)]
    if ((sector_bits !== 9 && sector_bits !== 12) || mini_bits !== 6) throw damaged('its sectors have no known size')
    this.#sector_bytes = 1 << sector_bits
    this.#mini_bytes = 1 << mini_bits
    this.#mini_cutoff = header.getUint32(56, true)
    this.#fat = this.#readFat(header)
    const entries = this.#readEntries(header.getUint32(48, true))
    const [root] = entries
    if (!root) throw damaged('it has no directory')
    this.#miniFat = this.#readTable(this.#followChain(header.getUint32(60, true)))
    this.#miniStream = this.#rangesOf(this.#chain(this.#fat, root.start, root.size, this.#sector_bytes), root.size)
    this.#streams = listStreams(entries, root)
  }

  has(name: string): boolean {
    return this.#streams.has(name)
  }

  stream(name: string): RangeSource {
    const entry = this.#streams.get(name)
    if (!entry) throw damaged(`it has no stream ${name}`)
    const { start, size } = entry
    if (size >= this.#mini_cutoff) return this.#rangesOf(this.#chain(this.#fat, start, size, this.#sector_bytes), size)
    const sectors = this.#chain(this.#miniFat, start, size, this.#mini_bytes)
    return rangesBySector(this.#miniStream, sectors, size, this.#mini_bytes, 0)
  }

  #rangesOf(sectors: Uint32Array, size: number): RangeSource {
    return rangesBySector(this.#file, sectors, size, this.#sector_bytes, this.#sector_bytes)
  }

  get #sectors(): number {
    return Math.ceil(this.#file.size / this.#sector_bytes)
  }

  /** The last sector of a file may be cut, as some programs write it. */
  #readSector(sector: number): DataView {
    const start = (sector + 1) * this.#sector_bytes
    if (start >= this.#file.size) throw damaged('a sector lies beyond its end')
    const view = new DataView(new ArrayBuffer(this.#sector_bytes))
    const bytes = this.#file.read(start, Math.min(this.#file.size, start + this.#sector_bytes))
    new Uint8Array(view.buffer).set(new Uint8Array(bytes))
    return view
  }

  #readFat(header: DataView): Uint32Array {
    const numbers: number[] = []
    const max_fat_sectors = Math.ceil(this.#sectors / (this.#sector_bytes / 4))
    const add = (sector: number) => {
      if (sector >= max_sector) return
      if (numbers.length === max_fat_sectors) throw damaged('its table of sectors is larger than itself')
      numbers.push(sector)
    }
    for (let at = 0; at < header_fat_sectors; at++) add(header.getUint32(76 + at * 4, true))
    let next = header.getUint32(68, true)
    for (let visited = 0; next < max_sector; visited++) {
      if (visited > max_fat_sectors) throw damaged('sectors refer to one another')
      const view = this.#readSector(next)
      const last = this.#sector_bytes - 4
      for (let at = 0; at < last; at += 4) add(view.getUint32(at, true))
      next = view.getUint32(last, true)
    }
    return this.#readTable(numbers)
  }

  #readTable(sectors: readonly number[]): Uint32Array {
    const per_sector = this.#sector_bytes / 4
    const table = new Uint32Array(sectors.length * per_sector)
    for (const [index, sector] of sectors.entries()) {
      const view = this.#readSector(sector)
      for (let at = 0; at < per_sector; at++) table[index * per_sector + at] = view.getUint32(at * 4, true)
    }
    return table
  }

  /** All sectors of a chain whose size is not known. */
  #followChain(start: number): number[] {
    const chain: number[] = []
    for (let sector = start; sector < max_sector; sector = this.#fat[sector] ?? endOfChain) {
      if (chain.length === this.#sectors) throw damaged('sectors refer to one another')
      chain.push(sector)
    }
    return chain
  }

  /** The sectors of a stream of this size. */
  #chain(table: Uint32Array, start: number, size: number, sector_bytes: number): Uint32Array {
    if (size > this.#file.size) throw damaged('a stream claims to be larger than the file')
    const chain = new Uint32Array(Math.ceil(size / sector_bytes))
    let sector = start
    for (let at = 0; at < chain.length; at++) {
      if (sector >= max_sector) throw damaged('a stream ends too early')
      chain[at] = sector
      sector = table[sector] ?? endOfChain
    }
    return chain
  }

  #readEntries(start: number): DirectoryEntry[] {
    const entries: DirectoryEntry[] = []
    const decoder = new TextDecoder('utf-16le')
    for (const sector of this.#followChain(start)) {
      const view = this.#readSector(sector)
      if (entries.length >= max_entries) throw damaged('its directory is too large')
      for (let at = 0; at < this.#sector_bytes; at += entry_bytes) {
        const name_bytes = Math.max(0, Math.min(64, view.getUint16(at + 64, true)) - 2)
        entries.push({
          name: decoder.decode(new Uint8Array(view.buffer, at, name_bytes)),
          kind: view.getUint8(at + 66),
          left: view.getUint32(at + 68, true),
          right: view.getUint32(at + 72, true),
          child: view.getUint32(at + 76, true),
          start: view.getUint32(at + 116, true),
          // The upper half is not reliable in version 3, and zero in files of this size.
          size: view.getUint32(at + 120, true),
        })
      }
    }
    return entries
  }
}

/** The streams of the root alone: a workbook that is embedded in a cell is in a storage of its own. */
function listStreams(entries: readonly DirectoryEntry[], root: DirectoryEntry): Map<string, DirectoryEntry> {
  const streams = new Map<string, DirectoryEntry>()
  const visited = new Set<number>()
  const open = [root.child]
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    const entry = at === none ? undefined : entries[at]
    if (!entry || visited.has(at)) continue
    visited.add(at)
    if (entry.kind === 2) streams.set(entry.name.toUpperCase(), entry)
    open.push(entry.left, entry.right)
  }
  return streams
}

function rangesBySector(
  source: RangeSource,
  sectors: Uint32Array,
  size: number,
  sector_bytes: number,
  first: number,
): RangeSource {
  const sectorOf = (index: number) => sectors[index] ?? max_sector
  return {
    size,
    read(start, end) {
      const bytes = new Uint8Array(end - start)
      for (let at = start; at < end; ) {
        const index = Math.floor(at / sector_bytes)
        // Sectors that follow each other in the file are read together.
        let last = index
        while ((last + 1) * sector_bytes < end && sectors[last + 1] === sectorOf(last) + 1) last++
        const length = Math.min(end, (last + 1) * sector_bytes) - at
        const from = first + sectorOf(index) * sector_bytes + (at % sector_bytes)
        if (from + length > source.size) throw damaged('a sector lies beyond its end')
        bytes.set(new Uint8Array(source.read(from, from + length)), at - start)
        at += length
      }
      return bytes.buffer
    },
  }
}

function damaged(what: string): DataFault {
  return new DataFault(`damaged, or not a workbook of Excel (.xls): ${what}`)
}
