// One search of an index, and what is read from its hits.

import type { CursorPosition } from '../../../../daemon/kernel/store/store.ts'
import { labelKeyOf, type Scalar, type StoredFields } from '../../../../daemon/kernel/store/store.ts'
import type { OpensearchCluster } from '../cluster/cluster.ts'
import { type SearchHit, searchResponse } from '../cluster/response-schemas.ts'
import type { DocumentEnvelope } from '../document-envelope.ts'
import type { OpensearchTable } from '../indexes/table.ts'
import { fieldPath, joinQueries, type SearchQuery } from './query.ts'

/**
 * A run of documents in one order: those that lack a field are queried apart, before or after the others.
 * `by`: the field of the index that the order begins with.
 */
export type SearchSegment = {
  readonly query: SearchQuery
  readonly by: string
  readonly direction: SortDirection
  readonly after?: readonly Scalar[]
}

export type SortDirection = 'asc' | 'desc'

export function segmentById(direction: SortDirection, after: CursorPosition | undefined): SearchSegment {
  return { query: joinQueries([]), by: 'id', direction, ...(after ? { after: [after.id] } : {}) }
}

export async function search(
  cluster: OpensearchCluster,
  table: OpensearchTable,
  where: SearchQuery,
  segment: SearchSegment,
  size: number,
) {
  const { query, by, direction, after } = segment
  const body = {
    query: joinQueries([where, query]),
    sort: by === 'id' ? [{ id: direction }] : [{ [by]: direction }, { id: direction }],
    size,
    seq_no_primary_term: true,
    track_total_hits: false,
    ...(after ? { search_after: after } : {}),
  }
  return (await cluster.request(searchRequest(table, body), searchResponse)).hits.hits
}

/** Allows no partial results: an answer without every shard is a failure. */
export function searchRequest({ alias }: OpensearchTable, body: object) {
  const query = { allow_partial_search_results: false }
  return { method: 'POST', path: `/${alias}/_search`, query, body } as const
}

/** The key that the index orders the document by; undefined in the order of ids. */
export function orderValue({ _source }: SearchHit, by: string): Scalar | undefined {
  return by === 'id' ? undefined : _source.fields[by.slice(fieldPath('').length)]
}

/** The value itself, where its key may be a shorter one; undefined or null where the document has none. */
export function readValue({ body }: DocumentEnvelope, field: string): Scalar | null | undefined {
  return field === 'label_key' ? labelKeyOf(body as StoredFields) : (body[field] as Scalar | null | undefined)
}
