// Resolves records of files into files, with no service: who is who, the pairs that say so, and what the run was.
import { closeSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { RuleReport } from '../../roles/resolution/engine/block/ruled.ts'
import type { Tell } from '../../roles/resolution/engine/progress.ts'
import type { Records } from '../../roles/resolution/engine/records/records.ts'
import { type Resolution, type Resolved, resolve } from '../../roles/resolution/engine/resolve.ts'
import type { Route } from '../../roles/resolution/engine/resolve-clusters.ts'
import type { Lens } from '../../roles/resolution/lens/model.ts'
import { asInvoker } from '../acting.ts'
import { claimFolder } from './new-files.ts'
import { faultless, readSources, seenBy } from './seen-records.ts'

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
  /** What the blocking rules of the lens brought together and left out. */
  readonly rules: readonly RuleReport[]
  readonly entities: number
  /** Clusters of two records or more, and how many records those have. */
  readonly clusters: number
  readonly records_in_clusters: number
}

/** Writes clusters.csv, pairs.csv and run.json. Throws `Objection`: 1 for data that cannot be used, 3 for a folder in use. */
export function resolveFiles({ lens, files, out, seed }: Wanted, tell: Tell): Summary {
  // Before anything is read: an hour of work must not end at a folder that cannot be written.
  claimFolder(out)
  const records = seenBy(lens, readSources(lens, files, tell))
  const resolution = faultless(() => resolve(lens, records, seed, tell))
  tell({ phase: 'write', done: 0, total: records.rows })
  const numbers = numbered(resolution.clusters)
  const summary = summaryOf(lens, seed, records, resolution, numbers)
  asInvoker(() => {
    writeLines(join(out, 'clusters.csv'), clusterLines(records, numbers))
    writeLines(join(out, 'pairs.csv'), pairLines(records, resolution))
    writeLines(join(out, 'run.json'), [JSON.stringify(summary, undefined, 2)])
  })
  return summary
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
  { route, compared, rules }: Resolved,
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
    rules,
    entities: sizes.reduce((count, size) => count + (size > 0 ? 1 : 0), 0),
    clusters: shared.length,
    records_in_clusters: shared.reduce((sum, size) => sum + size, 0),
  }
}

function* clusterLines({ rows, names, sources, idOf }: Records, numbers: Int32Array): Generator<string> {
  yield 'source,id,cluster'
  const quoted = names.map(cell)
  for (let row = 0; row < rows; row++) yield `${quoted[sources[row] ?? 0]},${cell(idOf(row))},${numbers[row]}`
}

/** Pairs that are linked, and those that were near it. */
function* pairLines({ names, sources, idOf }: Records, resolution: Resolution): Generator<string> {
  const { clusters, compared, scores, floor } = resolution
  yield 'source_l,id_l,source_r,id_r,score,linked'
  const quoted = names.map(cell)
  for (let pair = 0; pair < compared.length; pair++) {
    const [left, right] = [compared.lefts[pair] ?? 0, compared.rights[pair] ?? 0]
    const isLinked = clusters[left] === clusters[right]
    const score = scores[pair] ?? 0
    if (!isLinked && score <= floor) continue
    const ends = [left, right].map((row) => `${quoted[sources[row] ?? 0]},${cell(idOf(row))}`)
    yield `${ends.join(',')},${score.toFixed(4)},${isLinked}`
  }
}

/** RFC 4180: in quotation marks where it holds a comma, a mark or a line end. */
function cell(value: string): string {
  return /[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value
}

const piece_lines = 20_000

function writeLines(file: string, lines: Iterable<string>): void {
  const opened = openSync(file, 'wx', 0o600)
  try {
    let piece: string[] = []
    const flush = () => {
      if (piece.length > 0) writeSync(opened, `${piece.join('\n')}\n`)
      piece = []
    }
    for (const line of lines) if (piece.push(line) === piece_lines) flush()
    flush()
  } finally {
    closeSync(opened)
  }
}
