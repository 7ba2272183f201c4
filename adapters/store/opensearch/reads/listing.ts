// Pages of documents, by searches that answer for all of the index or not at all.
import type * as z from 'zod'
import { readCursor, writeCursor } from '../../../../daemon/kernel/store/list-cursor.ts'
import { PageFill } from '../../../../daemon/kernel/store/page-fill.ts'
import type { CursorPosition, DocumentPage, ListQuery, StoredFields } from '../../../../daemon/kernel/store/store.ts'
import type { OpensearchCluster } from '../cluster/cluster.ts'
import type { SearchHit } from '../cluster/response-schemas.ts'
import { type DocumentEnvelope, parseDocument } from '../document-envelope.ts'
import { indexKey } from '../indexes/field-kind.ts'
import type { OpensearchTable } from '../indexes/table.ts'
import type { PageEdges } from './page-edges.ts'
import {
  buildQuery,
  fieldExists,
  fieldPath,
  joinQueries,
  negateQuery,
  requireFieldKind,
  type SearchQuery,
} from './query.ts'
import { orderValue, readValue, type SearchSegment, type SortDirection, search, segmentById } from './search.ts'

/** As listPage of the embedded store: the same order, ties and cursors. @throws Refusal('malformed'), or Error. */
export async function listPage<T extends StoredFields>(
  cluster: OpensearchCluster,
  table: OpensearchTable,
  schema: z.ZodType<T>,
  query: ListQuery,
  edges: PageEdges,
): Promise<DocumentPage<T>> {
  const { limit, order } = query
  if (!Number.isInteger(limit) || limit < 1) throw new Error('a limit is a whole number from 1')
  const where = buildQuery(table, query.filter, query.read_scope)
  if (order) requireFieldKind(table, order.field)
  const after = readCursor(table.name, query)
  const fill = new PageFill(limit)
  const page: DocumentEnvelope[] = []
  const docs = () => page.map((source) => parseDocument(source, schema))
  for (const segment of order ? segmentsByField(order.field, order.direction, after) : [segmentById('asc', after)]) {
    const batches = searchInBatches(cluster, table, where, segment, () => limit + 1 - page.length, { query, edges })
    for await (const { _source } of batches) {
      const last = page.at(-1)
      if (fill.add(JSON.stringify(_source.body).length)) page.push(_source)
      else if (last) {
        const value = order ? (readValue(last, order.field) ?? null) : null
        return { docs: docs(), next_cursor: writeCursor(table.name, query, { value, id: last.id }) }
      }
    }
  }
  return { docs: docs() }
}

/** Documents of one search: a page of large ones ends before all that its limit allows have been fetched. */
const batch_size = 101

async function* searchInBatches(
  cluster: OpensearchCluster,
  table: OpensearchTable,
  where: SearchQuery,
  segment: SearchSegment,
  wanted: () => number,
  known: { readonly query: ListQuery; readonly edges: PageEdges },
): AsyncGenerator<SearchHit> {
  let next = segment
  for (;;) {
    const size = Math.min(wanted(), batch_size)
    const found = size > 0 ? await searchWithinEdge(cluster, table, where, next, size, known) : []
    yield* found
    const last = found.at(-1)
    if (!last || found.length < size) return
    const value = orderValue(last, segment.by)
    next = { ...segment, after: value === undefined ? [last._source.id] : [value, last._source.id] }
  }
}

/** All documents in the order of their ids, some at a time. */
export async function* iterateHits(cluster: OpensearchCluster, table: OpensearchTable): AsyncGenerator<SearchHit> {
  let after: CursorPosition | undefined
  for (;;) {
    const found = await search(cluster, table, joinQueries([]), segmentById('asc', after), scan_batch_size)
    yield* found
    const last = found.at(-1)
    if (!last || found.length < scan_batch_size) return
    after = { value: null, id: last._source.id }
  }
}
const scan_batch_size = 200

function segmentsByField(field: string, direction: SortDirection, after: CursorPosition | undefined): SearchSegment[] {
  const absent: SearchSegment = { query: negateQuery(fieldExists(field)), by: 'id', direction }
  const present: SearchSegment = { query: fieldExists(field), by: fieldPath(field), direction }
  const isDescending = direction === 'desc'
  if (!after) return isDescending ? [present, absent] : [absent, present]
  if (after.value === null) {
    const rest = { ...absent, after: [after.id] }
    return isDescending ? [rest] : [rest, present]
  }
  const rest = { ...present, after: [indexKey(after.value), after.id] }
  return isDescending ? [rest, absent] : [rest]
}

/** Searches within the edge of the last first page, and beyond it only if that yields too few. */
async function searchWithinEdge(
  cluster: OpensearchCluster,
  table: OpensearchTable,
  where: SearchQuery,
  segment: SearchSegment,
  size: number,
  { query, edges }: { readonly query: ListQuery; readonly edges: PageEdges },
): Promise<SearchHit[]> {
  const { by, direction, after } = segment
  const name = `${table.name} ${by}`
  const edge = edges.findEdge(name, query, after?.[0])
  const near = edge !== undefined && { range: { [by]: { [direction === 'asc' ? 'lte' : 'gte']: edge } } }
  let found = near ? await search(cluster, table, joinQueries([where, near]), segment, size) : []
  if (found.length < size) found = await search(cluster, table, where, segment, size)
  if (!after) edges.record(name, query, found.length === size ? pageEnds(found, by) : undefined)
  return found
}

function pageEnds(found: readonly SearchHit[], by: string) {
  const [first, last] = [found.at(0), found.at(-1)].map(
    (hit) => hit && (by === 'id' ? hit._source.id : orderValue(hit, by)),
  )
  return first === undefined || last === undefined ? undefined : { first, last }
}
