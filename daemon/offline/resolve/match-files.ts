// Matches records of files against a registry, without a run: each joins an entity or starts a new one.
import type { ResultKind } from '../../../adapters/platform/data-file/data-kinds.ts'
import { describeJoining } from '../../roles/resolution/arrival/final-outcomes.ts'
import type { ArrivedRecordOutcome } from '../../roles/resolution/arrival/model.ts'
import { listClusters } from '../../roles/resolution/engine/findings.ts'
import { isSameRecord } from '../../roles/resolution/engine/lookup/is-same-record.ts'
import type { EngineProgressListener } from '../../roles/resolution/engine/progress.ts'
import { scoreUnit } from '../../roles/resolution/engine/score/score-unit.ts'
import type { Lens } from '../../roles/resolution/lens/model.ts'
import type { ArrivalClustering } from '../../roles/resolution/registry/join-arrivals.ts'
import { OfflineCommandError } from '../offline-command-error.ts'
import { writeResults } from './folder/write-results.ts'
import { type RecordReading, readLensRecords } from './lens-records.ts'
import { requireWritable, withResultFolder } from './new-files.ts'
import { remarkUnreadColumns } from './reading/unread-columns.ts'
import { buildChangeTable } from './registry/change-table.ts'
import { checkTextForm } from './registry/check-text-form.ts'
import {
  assignEntityIds,
  type EntityRegistry,
  readEntityRegistry,
  replaceEntityRegistry,
} from './registry/entity-registry.ts'
import {
  buildMemberKey,
  isComparedBy,
  parseMemberKey,
  type RegistryContent,
  type RegistryRecord,
} from './registry/registry-content.ts'
import { type KeyedArrival, RegistryMatcher } from './registry/registry-matcher.ts'
import { pairColumns } from './resolution-tables.ts'
import type { ResultTable } from './result-file.ts'

export type MatchFilesOptions = {
  readonly lens: Lens
  readonly registry: string
  readonly files: readonly string[]
  /** New or empty folder for the results; without it only the registry is written. */
  readonly out?: string | undefined
  readonly reading?: RecordReading | undefined
  readonly format?: ResultKind | undefined
}

type RecordChange = Extract<ArrivedRecordOutcome, 'new' | 'replaced' | 'unchanged'>

export type MatchedFileRecord = {
  readonly source: string
  readonly id: string
  readonly outcome: ArrivedRecordOutcome
  readonly entity: string
  readonly size: number
  /** Entities that went into that of a record with the outcome `merged`. */
  readonly merged_from?: readonly string[]
}

/** For more records, use a run. */
const max_records = 20_000

/**
 * Matches the records. Replaces the registry last and as a whole; the same records again change nothing. Throws
 * `OfflineCommandError`: 1 for unusable data, 3 for a registry without records, or of another lens.
 */
export async function matchFiles(
  options: MatchFilesOptions,
  onProgress: EngineProgressListener,
): Promise<MatchedFileRecord[]> {
  requireWritable(options.registry)
  return await withResultFolder(options.out, () => matchIntoFolder(options, onProgress))
}

async function matchIntoFolder(
  options: MatchFilesOptions,
  onProgress: EngineProgressListener,
): Promise<MatchedFileRecord[]> {
  const { lens, out, format = 'csv' } = options
  const registry = readEntityRegistry(options.registry, lens.lens)
  const content = requireRegistryContent(registry, options)
  const newRecords = await readNewRecords(options, onProgress)
  const outcomes = new Map(
    [...newRecords].map(([key, values]) => [key, determineOutcome(content.records.get(key), values)]),
  )
  const changed = new Map([...newRecords].filter(([key]) => outcomes.get(key) !== 'unchanged'))
  onProgress({ phase: 'compare', done: 0, total: changed.size })
  const matcher = new RegistryMatcher(lens, registry, content, changed)
  const clustering = await matcher.match()
  const { ids, registry: updated } = assignEntityIds(registry, matcher.clustersOf(clustering))
  const entityOf = new Map(
    updated.entities.flatMap((entity) => entity.members.map((member) => [buildMemberKey(member), entity] as const)),
  )
  const entitiesBefore = new Map(registry.entities.map((entity) => [entity.entity, entity]))
  const matched = [...newRecords.keys()].map((key): MatchedFileRecord => {
    const [source, id] = parseMemberKey(key)
    const { entity = '', members = [], merged_from = [] } = entityOf.get(key) ?? {}
    const outcome = outcomes.get(key) ?? 'new'
    const before = entitiesBefore.get(entity)
    const merged = merged_from.filter((id) => !before?.merged_from.includes(id))
    const joining = outcome === 'new' && before ? describeJoining(merged) : { outcome }
    return { source, id, entity, size: members.length, ...joining }
  })
  if (ids.length > 0) onProgress({ phase: 'write', done: 0, total: 0 })
  const updateRegistry = () => {
    if (changed.size > 0)
      replaceEntityRegistry(options.registry, { ...updated, content: { ...content, records: matcher.records } })
  }
  if (out === undefined) {
    updateRegistry()
    return matched
  }
  const tables = [buildMatchedTable(matched), buildMatchedPairTable(clustering), buildChangeTable(registry, updated)]
  const summary = { lens: lens.lens, version: lens.version, records: newRecords.size, changed: changed.size }
  const documents = [['match.json', summary]] as const
  await writeResults({ out, format, tables, documents, onChunk: () => undefined }, updateRegistry)
  return matched
}

function requireRegistryContent(
  { content, bytes }: EntityRegistry,
  { lens, registry }: MatchFilesOptions,
): RegistryContent {
  if (!bytes) throw new OfflineCommandError(1, `the registry ${registry} does not exist`)
  if (!content) {
    const remedy = '`platform resolve run --lens FILE --data FILE --out DIR --registry FILE --keep-records` keeps them'
    throw new OfflineCommandError(3, `${registry} contains no records`, remedy)
  }
  if (isComparedBy(lens, content.learnt)) return checkTextForm(content, registry)
  throw new OfflineCommandError(
    3,
    `${registry} was made with another lens`,
    'use that lens, or run `platform resolve run --lens FILE --data FILE --out DIR` again with this one',
  )
}

/** Normalised values of each record, by key. */
async function readNewRecords(
  { lens, files, reading }: MatchFilesOptions,
  onProgress: EngineProgressListener,
): Promise<ReadonlyMap<string, RegistryRecord['values']>> {
  const records = await readLensRecords(lens, files, onProgress, reading)
  remarkUnreadColumns(records.names, records.readings, reading?.onRemark)
  if (records.rows > max_records) {
    throw new OfflineCommandError(
      3,
      `there are ${records.rows} records; at most ${max_records} can be matched`,
      'use `platform resolve run --lens FILE --data FILE --out DIR`',
    )
  }
  const { clusters } = listClusters(
    records,
    Int32Array.from({ length: records.rows }, (_, row) => row),
  )
  const entries = [...clusters].flat().map(({ ref: { node_id, record_id }, values }) => {
    return [buildMemberKey([node_id, record_id]), values] as const
  })
  return new Map(entries)
}

function determineOutcome(previous: RegistryRecord | undefined, values: RegistryRecord['values']): RecordChange {
  if (!previous) return 'new'
  return isSameRecord(previous.values, values) ? 'unchanged' : 'replaced'
}

function buildMatchedTable(matched: readonly MatchedFileRecord[]): ResultTable {
  return {
    name: 'matched',
    columns: [
      { name: 'source', type: 'text', required: true },
      { name: 'id', type: 'text', required: true },
      { name: 'outcome', type: 'text', required: true },
      { name: 'entity', type: 'text', required: true },
      { name: 'size', type: 'int32', required: true },
      { name: 'merged_from', type: 'text', required: true },
    ],
    rows: matched.map(({ source, id, outcome, entity, size, merged_from = [] }) => {
      return [source, id, outcome, entity, size, merged_from.join(' ')]
    }),
  }
}

/** Table of pairs in the form of a run. */
function buildMatchedPairTable({ pairs, clusters }: ArrivalClustering): ResultTable {
  const clusterOf = new Map(clusters.flatMap(({ base, members }) => members.map(({ uid }) => [uid, base] as const)))
  return {
    name: 'pairs',
    columns: pairColumns,
    rows: pairs
      .map(({ left: first, right: second, comparison }) => {
        const [left, right] =
          (first as KeyedArrival).key < (second as KeyedArrival).key ? [first, second] : [second, first]
        const isLinked = clusterOf.get(first.uid) === clusterOf.get(second.uid)
        const ends = [left, right].flatMap(({ ref }) => [ref.node_id, ref.record_id])
        return [...ends, Number((comparison.score / scoreUnit('log_odds')).toFixed(4)), isLinked]
      })
      .sort((left, right) => (JSON.stringify(left) < JSON.stringify(right) ? -1 : 1)),
  }
}
