// Resolves records of files into files, with no service: who is who, the pairs that say so, and what the run was.
import { rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { runAsInvoker } from '../../boot/host/act-as-owner.ts'
import type { BlockingRuleReport } from '../../roles/resolution/engine/block/lens-rules.ts'
import { type EngineProgressListener, reportPhaseStart } from '../../roles/resolution/engine/progress.ts'
import type { LensRecords } from '../../roles/resolution/engine/records/records.ts'
import { type DetailedResolution, resolveRecords } from '../../roles/resolution/engine/resolve.ts'
import type { ResolutionRoute } from '../../roles/resolution/engine/resolve-clusters.ts'
import { countRows } from '../../roles/resolution/engine/text/dictionary.ts'
import type { Lens } from '../../roles/resolution/lens/model.ts'
import type { PairDecision } from '../../roles/resolution/registry/cluster-with-decisions.ts'
import type { DataKind, ResultKind } from '../../runtime/resolution/read-records.ts'
import { OfflineCommandError } from '../offline-command-error.ts'
import { applyDecisions, buildRecordKey, readDecisions } from './decisions-file.ts'
import { convertLensFaults, readLensRecords } from './lens-records.ts'
import { claimFolder } from './new-files.ts'
import { buildRegistryContent } from './registry/build-registry-content.ts'
import { assignEntityIds, readEntityRegistry, replaceEntityRegistry } from './registry/entity-registry.ts'
import { buildClusterTable, buildPairTable } from './resolution-tables.ts'
import { type ResultTable, writeFileAtomically, writeResultTable } from './result-file.ts'

export type ResolveFilesOptions = {
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

type OverruledPair = Readonly<Record<'source_l' | 'id_l' | 'source_r' | 'id_r', string>>

export type ResolutionSummary = {
  readonly lens: string
  readonly version: string
  readonly route: ResolutionRoute
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
  readonly rules: readonly BlockingRuleReport[]
  readonly entities: number
  /** Clusters of two records or more, and how many records those have. */
  readonly clusters: number
  readonly records_in_clusters: number
  /** Which of the compared pairs the file of pairs has. */
  readonly pairs: 'all' | 'near'
  /** How many decisions counted, and the confirmed pairs that rejected ones keep apart all the same. */
  readonly decisions?: { readonly counted: number; readonly overruled: readonly OverruledPair[] }
}

/**
 * Writes clusters and pairs in the form that is asked for, and run.json last: where that is, the others are whole. Throws
 * `OfflineCommandError`: 1 for data that cannot be used and for files that cannot be written, 3 for a folder in use.
 */
export async function resolveFiles(
  wanted: ResolveFilesOptions,
  tell: EngineProgressListener,
): Promise<ResolutionSummary> {
  const { lens, files, out, seed, dataKind, format = 'csv', hasAllPairs = false, registry: kept } = wanted
  refuseDuplicateSources(files.map((file) => basename(file)))
  if (wanted.keepsRecords && kept === undefined)
    throw new OfflineCommandError(2, '--keep-records needs a registry: name it with --registry')
  // Before anything is read: an hour of work must not end at a folder that cannot be written.
  claimFolder(out)
  const registry = kept === undefined ? undefined : readEntityRegistry(kept, lens.lens)
  const records = await readLensRecords(lens, files, tell, dataKind)
  const decided = wanted.decisions === undefined ? undefined : await readDecisions(wanted.decisions, records)
  const found = convertLensFaults(() => resolveRecords(lens, records, seed, tell))
  const settled = decided && applyDecisions(records, found, decided)
  const resolution = settled ? { ...found, clusters: settled.clusters } : found
  const numbers = numberClusters(resolution.clusters)
  const summary: ResolutionSummary = {
    ...summarizeResolution(lens, seed, records, resolution, numbers),
    pairs: hasAllPairs ? 'all' : 'near',
    ...(settled && {
      decisions: { counted: decided.decisions.length, overruled: settled.overruled.map(toOverruledPair) },
    }),
  }
  const entities = registry && assignEntityIds(registry, groupKeysByCluster(records, numbers))
  const keeps = wanted.keepsRecords || registry?.content !== undefined
  const content =
    entities && keeps
      ? buildRegistryContent(lens, records, found, decided?.decisions ?? [], entities.registry)
      : undefined
  const tables = [buildClusterTable(records, numbers, entities?.ids), buildPairTable(records, resolution, hasAllPairs)]
  await writeResults({ out, format, tables, summary, alive: () => reportPhaseStart(tell, 'write') }, () => {
    if (kept !== undefined && entities) replaceEntityRegistry(kept, { ...entities.registry, content })
  })
  return summary
}

function toOverruledPair({ left, right }: PairDecision): OverruledPair {
  const [source_l = '', id_l = ''] = left.split('\u0000')
  const [source_r = '', id_r = ''] = right.split('\u0000')
  return { source_l, id_l, source_r, id_r }
}

/** Keys of the records of each cluster, by its number. */
function groupKeysByCluster(records: LensRecords, numbers: Int32Array): string[][] {
  const clusters: string[][] = []
  for (const [row, number] of numbers.entries()) {
    const known = clusters[number - 1]
    const key = buildRecordKey(records, row)
    if (known) known.push(key)
    else clusters[number - 1] = [key]
  }
  return clusters
}

type ResolutionResults = {
  readonly out: string
  readonly format: ResultKind
  readonly tables: readonly ResultTable[]
  readonly summary: ResolutionSummary
  readonly alive: () => void
}

/** All of them, or none: what is there without the others would be taken for a result. */
async function writeResults(
  { out, format, tables, summary, alive }: ResolutionResults,
  keep: () => void,
): Promise<void> {
  const written: string[] = []
  try {
    for (const table of tables) written.push(await writeResultTable(out, table, format, alive))
    // Before run.json: a run that ends here finds the same entities the next time.
    keep()
    const text = `${JSON.stringify(summary, undefined, 2)}\n`
    writeFileAtomically(join(out, 'run.json'), (write) => write(Buffer.from(text)))
  } catch (error) {
    runAsInvoker(() => {
      for (const file of written) rmSync(file, { force: true })
    })
    throw error
  }
}

/** Results name a record by its source and its id. */
function refuseDuplicateSources(names: readonly string[]): void {
  const twice = names.find((name, at) => names.indexOf(name) !== at)
  if (twice)
    throw new OfflineCommandError(
      1,
      `two files have the name ${twice}`,
      'the file name identifies a source: rename one of them',
    )
}

/** Clusters as 1, 2, 3 in the order of their first records. */
function numberClusters(clusters: Int32Array): Int32Array {
  const numbers = new Int32Array(clusters.length)
  let last = 0
  for (let row = 0; row < clusters.length; row++) {
    const cluster = clusters[row] ?? 0
    numbers[row] = cluster === row ? ++last : (numbers[cluster] ?? 0)
  }
  return numbers
}

function summarizeResolution(
  { lens, version }: Lens,
  seed: number,
  { rows, names, sources, fields }: LensRecords,
  { route, compared, rules }: DetailedResolution,
  numbers: Int32Array,
): Omit<ResolutionSummary, 'pairs' | 'decisions'> {
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
      fields.map(({ name, column }) => [name, countRows(column).reduce((a, b) => Math.max(a, b), 0)]),
    ),
    records: rows,
    pairs_compared: compared.length,
    rules,
    entities: sizes.reduce((count, size) => count + (size > 0 ? 1 : 0), 0),
    clusters: shared.length,
    records_in_clusters: shared.reduce((sum, size) => sum + size, 0),
  }
}
