// Resolves records of files into files, with no service: who is who, the pairs that say so, and what the run was.
import { rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { RuleReport } from '../../roles/resolution/engine/block/ruled.ts'
import { began, type Tell } from '../../roles/resolution/engine/progress.ts'
import type { Records } from '../../roles/resolution/engine/records/records.ts'
import { type Resolved, resolve } from '../../roles/resolution/engine/resolve.ts'
import type { Route } from '../../roles/resolution/engine/resolve-clusters.ts'
import { countsOf } from '../../roles/resolution/engine/text/dictionary.ts'
import type { Lens } from '../../roles/resolution/lens/model.ts'
import type { Decision } from '../../roles/resolution/registry/settling.ts'
import { asInvoker } from '../acting.ts'
import type { DataKind, ResultKind } from '../resolution/read-records.ts'
import { readDecisions, recordKey, withDecisions } from './decisions-file.ts'
import { named, readRegistry, replaceRegistry } from './entity-registry.ts'
import { contentOf } from './kept-records.ts'
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
  readonly format?: ResultKind | undefined
  /** All pairs that were compared, and not only those that are linked or were near it. */
  readonly hasAllPairs?: boolean
  /** A file of decisions about pairs of records, which hold over what is found. */
  readonly decisions?: string | undefined
  /** A file that keeps the ids of entities; made where there is none. */
  readonly registry?: string | undefined
  /** It keeps what the records say as well; one that does goes on so. */
  readonly keepsRecords?: boolean
}

type Conflict = Readonly<Record<'source_l' | 'id_l' | 'source_r' | 'id_r', string>>

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
  /** How many decisions counted, and the confirmed pairs that rejected ones keep apart all the same. */
  readonly decisions?: { readonly counted: number; readonly overruled: readonly Conflict[] }
}

/**
 * Writes clusters and pairs in the form that is asked for, and run.json last: where that is, the others are whole. Throws
 * `Objection`: 1 for data that cannot be used and for files that cannot be written, 3 for a folder in use.
 */
export async function resolveFiles(wanted: Wanted, tell: Tell): Promise<Summary> {
  const { lens, files, out, seed, dataKind, format = 'csv', hasAllPairs = false, registry: kept } = wanted
  refuseTwice(files.map((file) => basename(file)))
  if (wanted.keepsRecords && kept === undefined)
    throw new Objection(2, '--keep-records is about a registry: name it with --registry')
  // Before anything is read: an hour of work must not end at a folder that cannot be written.
  claimFolder(out)
  const registry = kept === undefined ? undefined : readRegistry(kept, lens.lens)
  const records = await recordsIn(lens, files, tell, dataKind)
  const decided = wanted.decisions === undefined ? undefined : await readDecisions(wanted.decisions, records)
  const found = faultless(() => resolve(lens, records, seed, tell))
  const settled = decided && withDecisions(records, found, decided)
  const resolution = settled ? { ...found, clusters: settled.clusters } : found
  const numbers = numbered(resolution.clusters)
  const summary: Summary = {
    ...summaryOf(lens, seed, records, resolution, numbers),
    pairs: hasAllPairs ? 'all' : 'near',
    ...(settled && {
      decisions: { counted: decided.decisions.length, overruled: settled.overruled.map(conflictOf) },
    }),
  }
  const entities = registry && named(registry, keysByNumber(records, numbers))
  const keeps = wanted.keepsRecords || registry?.content !== undefined
  const content =
    entities && keeps ? contentOf(lens, records, found, decided?.decisions ?? [], entities.registry) : undefined
  const tables = [clusterTable(records, numbers, entities?.ids), pairTable(records, resolution, hasAllPairs)]
  await writeResults({ out, format, tables, summary, alive: () => began(tell, 'write') }, () => {
    if (kept !== undefined && entities) replaceRegistry(kept, { ...entities.registry, content })
  })
  return summary
}

function conflictOf({ left, right }: Decision): Conflict {
  const [source_l = '', id_l = ''] = left.split('\u0000')
  const [source_r = '', id_r = ''] = right.split('\u0000')
  return { source_l, id_l, source_r, id_r }
}

/** Keys of the records of each cluster, by its number. */
function keysByNumber(records: Records, numbers: Int32Array): string[][] {
  const clusters: string[][] = []
  for (const [row, number] of numbers.entries()) {
    const known = clusters[number - 1]
    const key = recordKey(records, row)
    if (known) known.push(key)
    else clusters[number - 1] = [key]
  }
  return clusters
}

type Results = {
  readonly out: string
  readonly format: ResultKind
  readonly tables: readonly ResultTable[]
  readonly summary: Summary
  readonly alive: () => void
}

/** All of them, or none: what is there without the others would be taken for a result. */
async function writeResults({ out, format, tables, summary, alive }: Results, keep: () => void): Promise<void> {
  const written: string[] = []
  try {
    for (const table of tables) written.push(await writeTable(out, table, format, alive))
    // Before run.json: a run that ends here finds the same entities the next time.
    keep()
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
  for (let row = 0; row < clusters.length; row++) {
    const cluster = clusters[row] ?? 0
    numbers[row] = cluster === row ? ++last : (numbers[cluster] ?? 0)
  }
  return numbers
}

function summaryOf(
  { lens, version }: Lens,
  seed: number,
  { rows, names, sources, fields }: Records,
  { route, compared, rules }: Resolved,
  numbers: Int32Array,
): Omit<Summary, 'pairs' | 'decisions'> {
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
