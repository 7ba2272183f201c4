// Resolves records of files into files, with no service: who is who, the pairs that say so, and what the run was.
import { rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { RuleReport } from '../../roles/resolution/engine/block/ruled.ts'
import type { Tell } from '../../roles/resolution/engine/progress.ts'
import type { Records } from '../../roles/resolution/engine/records/records.ts'
import { type Resolved, resolve } from '../../roles/resolution/engine/resolve.ts'
import type { Route } from '../../roles/resolution/engine/resolve-clusters.ts'
import { countsOf } from '../../roles/resolution/engine/text/dictionary.ts'
import type { Lens } from '../../roles/resolution/lens/model.ts'
import { asInvoker } from '../acting.ts'
import type { DataKind } from './data-file.ts'
import { claimFolder } from './new-files.ts'
import { Objection } from './objection.ts'
import { clusterTable, pairTable } from './resolution-tables.ts'
import { type ResultTable, writeTable, writeWhole } from './result-file.ts'
import { faultless, recordsIn } from './seen-records.ts'

export type Wanted = {
  readonly lens: Lens
  /** Each is one source. */
  readonly files: readonly string[]
  /** A folder that is new or empty. */
  readonly out: string
  readonly seed: number
  /** What the files are, whatever their names say. */
  readonly dataKind?: DataKind | undefined
  /** Of the results; `csv` unless said. */
  readonly format?: DataKind | undefined
  /** All pairs that were compared, and not only those that are linked or were near it. */
  readonly hasAllPairs?: boolean
}

export type Summary = {
  readonly lens: string
  readonly version: string
  readonly route: Route
  readonly seed: number
  readonly sources: readonly { readonly name: string; readonly records: number }[]
  readonly fields: readonly string[]
  /**
   * By field, how many records share its commonest value. What more records share than a block may have brings none of them
   * together by itself.
   */
  readonly commonest: Readonly<Record<string, number>>
  readonly records: number
  readonly pairs_compared: number
  /** What the blocking rules of the lens brought together and left out. */
  readonly rules: readonly RuleReport[]
  readonly entities: number
  /** Clusters of two records or more, and how many records those have. */
  readonly clusters: number
  readonly records_in_clusters: number
  /** Which of the compared pairs the file of pairs has. */
  readonly pairs: 'all' | 'near'
}

/**
 * Writes clusters and pairs in the form that is asked for, and run.json last: where that is, the others are whole. Throws
 * `Objection`: 1 for data that cannot be used and for files that cannot be written, 3 for a folder in use.
 */
export async function resolveFiles(wanted: Wanted, tell: Tell): Promise<Summary> {
  const { lens, files, out, seed, dataKind, format = 'csv', hasAllPairs = false } = wanted
  refuseTwice(files.map((file) => basename(file)))
  // Before anything is read: an hour of work must not end at a folder that cannot be written.
  claimFolder(out)
  const records = await recordsIn(lens, files, tell, dataKind)
  const resolution = faultless(() => resolve(lens, records, seed, tell))
  const numbers = numbered(resolution.clusters)
  const summary = {
    ...summaryOf(lens, seed, records, resolution, numbers),
    pairs: hasAllPairs ? 'all' : 'near',
  } as const
  tell({ phase: 'write', done: 0, total: 0 })
  await writeResults(
    out,
    format,
    [clusterTable(records, numbers), pairTable(records, resolution, hasAllPairs)],
    summary,
  )
  return summary
}

/** All of them, or none: what is there without the others would be taken for a result. */
async function writeResults(
  out: string,
  format: DataKind,
  tables: readonly ResultTable[],
  summary: Summary,
): Promise<void> {
  const written: string[] = []
  try {
    for (const table of tables) written.push(await writeTable(out, table, format))
    const text = `${JSON.stringify(summary, undefined, 2)}\n`
    writeWhole(join(out, 'run.json'), (write) => write(Buffer.from(text)))
  } catch (error) {
    asInvoker(() => {
      for (const file of written) rmSync(file, { force: true })
    })
    throw error
  }
}

/** Results name a record by its source and its id. */
function refuseTwice(names: readonly string[]): void {
  const twice = names.find((name, at) => names.indexOf(name) !== at)
  if (twice)
    throw new Objection(
      1,
      `two files are called ${twice}`,
      'a source is known by the name of its file: give one another',
    )
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
): Omit<Summary, 'pairs'> {
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
    commonest: Object.fromEntries(
      fields.map(({ name, column }) => [name, countsOf(column).reduce((a, b) => Math.max(a, b), 0)]),
    ),
    records: rows,
    pairs_compared: compared.length,
    rules,
    entities: sizes.reduce((count, size) => count + (size > 0 ? 1 : 0), 0),
    clusters: shared.length,
    records_in_clusters: shared.reduce((sum, size) => sum + size, 0),
  }
}
