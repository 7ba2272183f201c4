// Reads where rows of a landed dataset come from: all of a file of ranges, whose digest must be that of the description.
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import type { DataFile } from '../../../adapters/platform/data-file/data-file.ts'
import type { LandedDataset } from '../../kernel/data/landed-dataset.ts'
import {
  max_range_bytes,
  type OriginPlace,
  type OriginRange,
  OriginRangeReader,
} from '../../kernel/data/row-origins.ts'
import { runningDigest } from '../../kernel/encoding/running-digest.ts'
import { withDataFile } from '../resolve/data-file.ts'
import { type DescribedDataset, damagedFile } from './described-dataset.ts'

const piece_bytes = 1 << 20

/** Returns the places of these rows; none for those that come from no row. Throws `OfflineCommandError`: 1 where the file is not there, 5 where it is damaged. */
export async function readRowPlaces(
  { folder, content }: DescribedDataset,
  origin: NonNullable<LandedDataset['origins']>[number],
  rows: readonly number[],
): Promise<ReadonlyMap<number, OriginPlace>> {
  const path = join(folder, origin.name)
  return await withDataFile(path, async (file) => {
    const search = new PlaceSearch(rows, content)
    const isWhole = file.size === origin.bytes && (await scanRanges(file, origin.sha256, (range) => search.add(range)))
    if (isWhole && search.rows === content.rows) return search.found
    throw damagedFile(path)
  })
}

/** Returns whether all lines are ranges that `add` accepts, and the bytes those of the digest. */
async function scanRanges(file: DataFile, sha256: string, add: (range: OriginRange) => boolean): Promise<boolean> {
  const digested = runningDigest()
  const reader = new OriginRangeReader()
  let rest = ''
  for (let at = 0; at < file.size; at += piece_bytes) {
    const bytes = Buffer.from(file.read(at, Math.min(file.size, at + piece_bytes)))
    digested.add(bytes)
    const lines = `${rest}${bytes.toString('latin1')}`.split('\n')
    rest = lines.pop() ?? ''
    if (rest.length > max_range_bytes) return false
    for (const line of lines) {
      const range = reader.read(line)
      if (!range || !add(range)) return false
    }
    // A signal is seen between two pieces.
    await setImmediate()
  }
  return rest === '' && digested.hex() === sha256
}

/** Finds the places of some rows while ranges go by. */
class PlaceSearch {
  readonly found = new Map<number, OriginPlace>()
  readonly #wanted: readonly number[]
  readonly #inputs: number
  #next = 0
  /** Rows of the ranges so far. */
  rows = 0

  constructor(rows: readonly number[], { inputs }: LandedDataset) {
    this.#wanted = [...new Set(rows)].toSorted((a, b) => a - b)
    this.#inputs = inputs.length
  }

  /** Returns whether the range is of an input of the dataset. */
  add({ rows, from }: OriginRange): boolean {
    if (from && from.input >= this.#inputs) return false
    for (;;) {
      const row = this.#wanted[this.#next] ?? Number.POSITIVE_INFINITY
      if (row > this.rows + rows) break
      if (from) this.found.set(row, { input: from.input, place: from.place + row - this.rows - 1 })
      this.#next++
    }
    this.rows += rows
    return true
  }
}
