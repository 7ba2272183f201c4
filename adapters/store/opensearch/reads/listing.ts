// Pages, counts and values of documents, by searches that answer for all of the index or not at all.
import type * as z from 'zod'
import { type CursorPosition, readCursor, writeCursor } from '../../../../daemon/kernel/store/list-cursor.ts'
import {
  type DocumentPage,
  type Filter,
  type ListQuery,
  labelKeyOf,
  type ReadOptions,
  type Scalar,
  type StoredFields,
} from '../../../../daemon/kernel/store/store.ts'
import type { OpensearchCluster } from '../cluster/cluster.ts'
import { bucketsResponse, countResponse, type SearchHit, searchResponse } from '../cluster/response-schemas.ts'
import { type DocumentEnvelope, parseDocument } from '../document-envelope.ts'
import { indexKey, isShortened } from '../indexes/field-kind.ts'
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

/**
 * A run of documents in one order: those that lack a field are queried apart, before or after the others.
 * `by`: the field of the index that the order begins with.
 */
type SearchSegment = {
  readonly query: SearchQuery
  readonly by: string
  readonly direction: SortDirection
  readonly after?: readonly Scalar[]
}

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
  const found: SearchHit[] = []
  for (const segment of order ? segmentsByField(order.field, order.direction, after) : [segmentById('asc', after)]) {
    const wanted = limit + 1 - found.length
    if (wanted > 0) found.push(...(await searchWithinEdge(cluster, table, where, segment, wanted, { query, edges })))
  }
  const page = found.slice(0, limit)
  const docs = page.map(({ _source }) => parseDocument(_source, schema))
  const last = page.at(-1)?._source
  if (!last || found.length <= limit) return { docs }
  const value = order ? (readValue(last, order.field) ?? null) : null
  return { docs, next_cursor: writeCursor(table.name, query, { value, id: last.id }) }
}

export async function countDocuments(
  cluster: OpensearchCluster,
  table: OpensearchTable,
  filter?: Filter,
  how?: ReadOptions,
): Promise<number> {
  const body = { query: buildQuery(table, filter, how?.read_scope) }
  return (await cluster.request({ method: 'POST', path: `/${table.alias}/_count`, body }, countResponse)).count
}

/** Documents per value of an index field; those without it are left out. */
export async function countByField(
  cluster: OpensearchCluster,
  table: OpensearchTable,
  field: string,
  filter?: Filter,
  how?: ReadOptions,
) {
  requireFieldKind(table, field)
  const found = await countByComposite(cluster, table, buildQuery(table, filter, how?.read_scope), {
    terms: { field: fieldPath(field) },
  })
  const values = found.map(async ([key, count]) => [await fullValue(cluster, table, field, key), count] as const)
  return new Map(await Promise.all(values))
}

/** Documents per bucket, by the bucket's start; values that are not numbers are left out. */
export async function countByBucket(
  cluster: OpensearchCluster,
  table: OpensearchTable,
  field: string,
  interval: number,
  filter?: Filter,
) {
  if (!(interval > 0 && Number.isFinite(interval))) throw new Error('an interval is a number above 0')
  const where = buildQuery(table, filter)
  if (requireFieldKind(table, field) !== 'double') return new Map<number, number>()
  const found = await countByComposite(cluster, table, where, { histogram: { field: fieldPath(field), interval } })
  return new Map(found.map(([key, count]) => [Number(key), count]))
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

type SortDirection = 'asc' | 'desc'

function segmentById(direction: SortDirection, after: CursorPosition | undefined): SearchSegment {
  return { query: joinQueries([]), by: 'id', direction, ...(after ? { after: [after.id] } : {}) }
}

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
  const [first, last] = [found.at(0), found.at(-1)].map((hit) =>
    by === 'id' ? hit?._source.id : hit?._source.fields[by.slice(fieldPath('').length)],
  )
  return first === undefined || last === undefined ? undefined : { first, last }
}

async function search(
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
function searchRequest({ alias }: OpensearchTable, body: object) {
  const query = { allow_partial_search_results: false }
  return { method: 'POST', path: `/${alias}/_search`, query, body } as const
}

/** Every value, however many there are: the composite aggregation gives them in pages. */
async function countByComposite(
  cluster: OpensearchCluster,
  table: OpensearchTable,
  query: SearchQuery,
  by: object,
): Promise<[Scalar, number][]> {
  const found: [Scalar, number][] = []
  let after: unknown
  do {
    const composite = { size: 1_000, sources: [{ at: by }], ...(after ? { after } : {}) }
    const body = { query, size: 0, track_total_hits: false, aggs: { by: { composite } } }
    const { buckets: page, after_key } = (await cluster.request(searchRequest(table, body), bucketsResponse))
      .aggregations.by
    for (const { key, doc_count } of page) found.push([key.at, doc_count])
    after = page.length > 0 ? after_key : undefined
  } while (after !== undefined)
  return found
}

/** The value behind a key; for a text too long to be its own key, as one of its documents has it. */
async function fullValue(
  cluster: OpensearchCluster,
  table: OpensearchTable,
  field: string,
  key: Scalar,
): Promise<Scalar> {
  if (!isShortened(key)) return key
  const query = { term: { [fieldPath(field)]: key } }
  const [hit] = await search(cluster, table, query, segmentById('asc', undefined), 1)
  return (hit && readValue(hit._source, field)) ?? key
}

/** The value itself, where its key may be a shorter one; undefined or null where the document has none. */
function readValue({ body }: DocumentEnvelope, field: string): Scalar | null | undefined {
  return field === 'label_key' ? labelKeyOf(body as StoredFields) : (body[field] as Scalar | null | undefined)
}
