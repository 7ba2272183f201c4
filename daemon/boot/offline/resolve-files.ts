// Resolves records of files into files, with no service: who is who, the pairs that say so, and what the run was.
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Tell } from '../../roles/resolution/engine/progress.ts'
import { isWantedBy, LensFault, type Records, recordsOf } from '../../roles/resolution/engine/records/records.ts'
import { type Resolution, resolve } from '../../roles/resolution/engine/resolve.ts'
import type { Route } from '../../roles/resolution/engine/resolve-clusters.ts'
import type { Lens } from '../../roles/resolution/lens/model.ts'
import { asInvoker } from '../acting.ts'
import { readDataFile } from './data-file.ts'
import { Objection } from './objection.ts'
import { Sheet } from './sheet.ts'

export type Wanted = {
  readonly lens: Lens
  /** Each is one source. */
  readonly files: readonly string[]
  /** A folder that is new or empty. */
  readonly out: string
  readonly seed: number
}

export type Summary = {
  readonly lens: string
  readonly version: string
  readonly route: Route
  readonly seed: number
  readonly sources: readonly { readonly name: string; readonly records: number }[]
  readonly fields: readonly string[]
  readonly records: number
  readonly pairs_compared: number
  readonly entities: number
  /** Clusters of two records or more, and how many records those have. */
  readonly clusters: number
  readonly records_in_clusters: number
}

/** Writes clusters.csv, pairs.csv and run.json. Throws `Objection`: 1 for data that cannot be used, 3 for a folder in use. */
export function resolveFiles({ lens, files, out, seed }: Wanted, tell: Tell): Summary {
  asInvoker(() => claim(out))
  const read = (file: string) => {
    tell({ phase: 'read', done: 0, total: 0 })
    return readDataFile(file, isWantedBy(lens))
  }
  // What was read is not held by name: it may go as soon as the records are made of it.
  const records = seen(lens, files.map(read))
  const resolution = resolve(lens, records, seed, tell)
  tell({ phase: 'write', done: 0, total: records.rows })
  const numbers = numbered(resolution.clusters)
  const summary = summaryOf(lens, seed, records, resolution, numbers)
  asInvoker(() => {
    writeClusters(new Sheet(join(out, 'clusters.csv')), records, numbers)
    writePairs(new Sheet(join(out, 'pairs.csv')), records, resolution)
    writeFileSync(join(out, 'run.json'), `${JSON.stringify(summary, undefined, 2)}\n`, { flag: 'wx', mode: 0o600 })
  })
  return summary
}

function seen(lens: Lens, sources: Parameters<typeof recordsOf>[1]): Records {
  try {
    return recordsOf(lens, sources)
  } catch (error) {
    if (error instanceof LensFault) throw new Objection(1, error.message)
    throw error
  }
}

/** Before anything is read: an hour of work must not end at a folder that cannot be written. */
function claim(out: string): void {
  try {
    mkdirSync(out, { recursive: true, mode: 0o700 })
    if (readdirSync(out).length > 0) throw new Objection(3, `${out} is not empty`, 'name a new folder')
  } catch (error) {
    if (error instanceof Objection) throw error
    throw new Objection(1, `${out} cannot be written: ${(error as NodeJS.ErrnoException).code}`)
  }
}

/** Clusters as 1, 2, 3 in the order of their first records. */
function numbered(clusters: Int32Array): Int32Array {
  const numbers = new Int32Array(clusters.length)
  let last = 0
  return clusters.map((cluster, row) => {
    if (cluster === row) numbers[row] = ++last
    return numbers[cluster] ?? 0
  })
}

function summaryOf(
  { lens, version }: Lens,
  seed: number,
  { rows, names, sources, fields }: Records,
  { route, compared }: Resolution,
  numbers: Int32Array,
): Summary {
  const sizes = new Int32Array(rows + 1)
  for (const number of numbers) sizes[number] = (sizes[number] ?? 0) + 1
  const shared = sizes.filter((size) => size > 1)
  return {
    lens,
    version,
    route,
    seed,
    sources: names.map((name, at) => ({ name, records: sources.reduce((sum, of) => sum + (of === at ? 1 : 0), 0) })),
    fields: fields.map(({ name }) => name),
    records: rows,
    pairs_compared: compared.length,
    entities: sizes.reduce((count, size) => count + (size > 0 ? 1 : 0), 0),
    clusters: shared.length,
    records_in_clusters: shared.reduce((sum, size) => sum + size, 0),
  }
}

function writeClusters(sheet: Sheet, records: Records, numbers: Int32Array): void {
  const { rows, names, sources } = records
  try {
    sheet.texts(['source', 'id', 'cluster'])
    for (let row = 0; row < rows; row++) {
      sheet.text(names[sources[row] ?? 0] ?? '')
      sheet.id(records, row)
      sheet.whole(numbers[row] ?? 0)
      sheet.end()
    }
  } finally {
    sheet.close()
  }
}

/** Pairs that are linked, and those that were near it. */
function writePairs(sheet: Sheet, records: Records, { clusters, compared, scores, floor }: Resolution): void {
  const { names, sources } = records
  const { length, lefts, rights } = compared
  try {
    sheet.texts(['source_l', 'id_l', 'source_r', 'id_r', 'score', 'linked'])
    for (let pair = 0; pair < length; pair++) {
      const [left, right] = [lefts[pair] ?? 0, rights[pair] ?? 0]
      const isLinked = clusters[left] === clusters[right]
      const score = scores[pair] ?? 0
      if (!isLinked && score <= floor) continue
      for (const row of [left, right]) {
        sheet.text(names[sources[row] ?? 0] ?? '')
        sheet.id(records, row)
      }
      sheet.fraction(score)
      sheet.text(isLinked ? 'true' : 'false')
      sheet.end()
    }
  } finally {
    sheet.close()
  }
}
