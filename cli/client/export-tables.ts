// The tables that `resolve export` writes: the lists of the service that they are read from, and their rows.
import type { ApiObject } from './client.ts'

type ExportedRef = { readonly node_id: string; readonly record_id: string }
type ExportedMatch = {
  readonly uid: string
  readonly left: ExportedRef
  readonly right: ExportedRef
  readonly score: { readonly bits?: number; readonly probability?: number; readonly likeness?: number }
  readonly linked: boolean
  readonly state: string
  readonly decided_by: string
  readonly run_id: string
  readonly reviews: readonly ExportedAssessment[]
  readonly attestations: readonly ExportedAssessment[]
}
type ExportedAssessment = {
  readonly seq: number
  readonly by: string
  readonly at: string
  readonly reason?: string
  readonly evidence?: string
}
type ExportedCluster = {
  readonly uid: string
  readonly state: string
  readonly size: number
  readonly lens: string
  readonly lens_version: string
  readonly entity_type: string
  readonly run_id: string
  readonly members: readonly ExportedRef[]
  readonly lineage: {
    readonly merged_from: readonly string[]
    readonly split_from?: string
    readonly merged_into?: readonly string[]
  }
  readonly created_at: string
  readonly updated_at: string
}

export type ExportTable = {
  readonly columns: readonly { readonly name: string; readonly type: 'text' | 'double' | 'int32' | 'boolean' }[]
  /** Lists to read, in order: the operation and its filters besides the lens. */
  readonly lists: readonly { readonly operation: string; readonly filter: ApiObject }[]
  readonly rows: (item: ApiObject) => readonly (readonly string[])[]
}

const text = (...names: string[]) => names.map((name) => ({ name, type: 'text' as const }))
const numeric = (...names: string[]) => names.map((name) => ({ name, type: 'double' as const }))
const pairColumns = text('source_l', 'id_l', 'source_r', 'id_r')
const clusterList = 'resolution.entity-cluster.list'
const matchList = 'resolution.entity-match.list'
const decisions: Readonly<Record<string, string>> = { confirmed: 'confirm', rejected: 'reject', deferred: 'defer' }

export const exportTables: Readonly<Record<'matches' | 'clusters' | 'entities' | 'decisions', ExportTable>> = {
  matches: {
    columns: [
      ...pairColumns,
      ...numeric('bits', 'probability', 'likeness'),
      { name: 'linked', type: 'boolean' },
      ...text('state', 'decided_by', 'match_id', 'run_id'),
    ],
    lists: [{ operation: matchList, filter: {} }],
    rows(item) {
      const match = item as unknown as ExportedMatch
      const { score, linked, state, decided_by, uid, run_id } = match
      const scores = [score.bits, score.probability, score.likeness].map(numberCell)
      return [[...pairCells(match), ...scores, String(linked), state, decided_by, uid, run_id]]
    },
  },
  clusters: {
    columns: text('source', 'id', 'entity'),
    lists: [{ operation: clusterList, filter: { min_size: 1 } }],
    rows(item) {
      const { uid, members } = item as unknown as ExportedCluster
      return members.map(({ node_id, record_id }) => [node_id, record_id, uid])
    },
  },
  entities: {
    columns: [
      ...text('entity', 'state'),
      { name: 'size', type: 'int32' },
      ...text('entity_type', 'lens', 'lens_version', 'run_id', 'merged_from', 'split_from', 'merged_into'),
      ...text('created_at', 'updated_at'),
    ],
    lists: ['live', 'merged', 'deleted'].map((state) => ({ operation: clusterList, filter: { state, min_size: 0 } })),
    rows(item) {
      const { uid, state, size, entity_type, lens, lens_version, run_id, lineage, created_at, updated_at } =
        item as unknown as ExportedCluster
      const { merged_from, split_from = '', merged_into = [] } = lineage
      const origins = [merged_from.join(' '), split_from, merged_into.join(' ')]
      return [[uid, state, String(size), entity_type, lens, lens_version, run_id, ...origins, created_at, updated_at]]
    },
  },
  decisions: {
    columns: [...pairColumns, ...text('decision', 'decided_by', 'by', 'at', 'reason', 'match_id')],
    lists: Object.keys(decisions).map((state) => ({ operation: matchList, filter: { state } })),
    rows(item) {
      const match = item as unknown as ExportedMatch
      const { state, decided_by, reviews, attestations, uid } = match
      const [last] = [...reviews, ...attestations].sort((left, right) => right.seq - left.seq)
      const person = decided_by === 'human' ? last : undefined
      const reason = person?.reason ?? person?.evidence ?? ''
      const decision = decisions[state] ?? state
      return [[...pairCells(match), decision, decided_by, person?.by ?? '', person?.at ?? '', reason, uid]]
    },
  },
}

function pairCells({ left, right }: ExportedMatch): string[] {
  return [left, right].flatMap(({ node_id, record_id }) => [node_id, record_id])
}

function numberCell(number: number | undefined): string {
  return number === undefined ? '' : String(number)
}
