// Pages, counts and values of documents, by searches that answer for all of the index or not at all.
import type * as z from 'zod'
import { type CursorPosition, readCursor, writeCursor } from '../../../daemon/kernel/store/list-cursor.ts'
import {
  type DocumentPage,
  type Filter,
  type ListQuery,
  labelKeyOf,
  type ReadOptions,
  type Scalar,
  type StoredFields,
} from '../../../daemon/kernel/store/store.ts'
import { buckets, counted, type Hit, hits } from './answers.ts'
import type { Cluster } from './cluster.ts'
import { docOf, type Envelope } from './envelope.ts'
import { isShortened, keyOf } from './field-kind.ts'
import type { PageEdges } from './page-edges.ts'
import { allOf, exists, kindOf, not, pathOf, type Query, queryOf } from './query.ts'
import type { Table } from './table.ts'

/**
 * A run of documents in one order: those that lack a field are asked for apart, before or after the others.
 * `by`: the field of the index that the order begins with.
 */
type Segment = {
  readonly query: Query
  readonly by: string
  readonly direction: Direction
  readonly after?: readonly Scalar[]
}

/** As listPage of the embedded store: the same order, ties and cursors. @throws Refusal('malformed'), or Error. */
export async function listPage<T extends StoredFields>(
  cluster: Cluster,
  table: Table,
  schema: z.ZodType<T>,
  query: ListQuery,
  edges: PageEdges,
): Promise<DocumentPage<T>> {
  const { limit, order } = query
  if (!Number.isInteger(limit) || limit < 1) throw new Error('a limit is a whole number from 1')
  const where = queryOf(table, query.filter, query.read_scope)
  if (order) kindOf(table, order.field)
  const after = readCursor(table.name, query)
  const found: Hit[] = []
  for (const segment of order ? byField(order.field, order.direction, after) : [byId('asc', after)]) {
    const wanted = limit + 1 - found.length
    if (wanted > 0) found.push(...(await searchNear(cluster, table, where, segment, wanted, { query, edges })))
  }
  const page = found.slice(0, limit)
  const docs = page.map(({ _source }) => docOf(_source, schema))
  const last = page.at(-1)?._source
  if (!last || found.length <= limit) return { docs }
  const value = order ? (valueIn(last, order.field) ?? null) : null
  return { docs, next_cursor: writeCursor(table.name, query, { value, id: last.id }) }
}

export async function countOf(cluster: Cluster, table: Table, filter?: Filter, how?: ReadOptions): Promise<number> {
  const body = { query: queryOf(table, filter, how?.read_scope) }
  return (await cluster.ask({ method: 'POST', path: `/${table.alias}/_count`, body }, counted)).count
}

/** Documents per value of an index field; those without it are left out. */
export async function countsBy(cluster: Cluster, table: Table, field: string, filter?: Filter, how?: ReadOptions) {
  kindOf(table, field)
  const found = await tally(cluster, table, queryOf(table, filter, how?.read_scope), {
    terms: { field: pathOf(field) },
  })
  const values = found.map(async ([key, count]) => [await behind(cluster, table, field, key), count] as const)
  return new Map(await Promise.all(values))
}

/** Documents per bucket, by the bucket's start; values that are no numbers are left out. */
export async function bucketsOf(cluster: Cluster, table: Table, field: string, interval: number, filter?: Filter) {
  if (!(interval > 0 && Number.isFinite(interval))) throw new Error('an interval is a number above 0')
  const where = queryOf(table, filter)
  if (kindOf(table, field) !== 'double') return new Map<number, number>()
  const found = await tally(cluster, table, where, { histogram: { field: pathOf(field), interval } })
  return new Map(found.map(([key, count]) => [Number(key), count]))
}

/** All documents in the order of their ids, some at a time. */
export async function* everyHit(cluster: Cluster, table: Table): AsyncGenerator<Hit> {
  let after: CursorPosition | undefined
  for (;;) {
    const found = await search(cluster, table, allOf([]), byId('asc', after), scan_chunk)
    yield* found
    const last = found.at(-1)
    if (!last || found.length < scan_chunk) return
    after = { value: null, id: last._source.id }
  }
}
const scan_chunk = 200

type Direction = 'asc' | 'desc'

function byId(direction: Direction, after: CursorPosition | undefined): Segment {
  return { query: allOf([]), by: 'id', direction, ...(after ? { after: [after.id] } : {}) }
}

function byField(field: string, direction: Direction, after: CursorPosition | undefined): Segment[] {
  const absent: Segment = { query: not(exists(field)), by: 'id', direction }
  const present: Segment = { query: exists(field), by: pathOf(field), direction }
  const isDescending = direction === 'desc'
  if (!after) return isDescending ? [present, absent] : [absent, present]
  if (after.value === null) {
    const rest = { ...absent, after: [after.id] }
    return isDescending ? [rest] : [rest, present]
  }
  const rest = { ...present, after: [keyOf(after.value), after.id] }
  return isDescending ? [rest, absent] : [rest]
}

/** Within the edge of what was asked for before, if that is enough. */
async function searchNear(
  cluster: Cluster,
  table: Table,
  where: Query,
  segment: Segment,
  size: number,
  { query, edges }: { readonly query: ListQuery; readonly edges: PageEdges },
): Promise<Hit[]> {
  const { by, direction, after } = segment
  const name = `${table.name} ${by}`
  const edge = edges.edgeOf(name, query, after?.[0])
  const near = edge !== undefined && { range: { [by]: { [direction === 'asc' ? 'lte' : 'gte']: edge } } }
  let found = near ? await search(cluster, table, allOf([where, near]), segment, size) : []
  if (found.length < size) found = await search(cluster, table, where, segment, size)
  if (!after) edges.note(name, query, found.length === size ? endsOf(found, by) : undefined)
  return found
}

function endsOf(found: readonly Hit[], by: string) {
  const [first, last] = [found.at(0), found.at(-1)].map((hit) =>
    by === 'id' ? hit?._source.id : hit?._source.fields[by.slice(pathOf('').length)],
  )
  return first === undefined || last === undefined ? undefined : { first, last }
}

async function search(cluster: Cluster, table: Table, where: Query, segment: Segment, size: number) {
  const { query, by, direction, after } = segment
  const body = {
    query: allOf([where, query]),
    sort: by === 'id' ? [{ id: direction }] : [{ [by]: direction }, { id: direction }],
    size,
    seq_no_primary_term: true,
    track_total_hits: false,
    ...(after ? { search_after: after } : {}),
  }
  return (await cluster.ask(searchOf(table, body), hits)).hits.hits
}

/** Part of an answer is no answer. */
function searchOf({ alias }: Table, body: object) {
  const query = { allow_partial_search_results: false }
  return { method: 'POST', path: `/${alias}/_search`, query, body } as const
}

/** Every value, however many there are: the composite aggregation gives them in pages. */
async function tally(cluster: Cluster, table: Table, query: Query, by: object): Promise<[Scalar, number][]> {
  const found: [Scalar, number][] = []
  let after: unknown
  do {
    const composite = { size: 1_000, sources: [{ at: by }], ...(after ? { after } : {}) }
    const body = { query, size: 0, track_total_hits: false, aggs: { by: { composite } } }
    const { buckets: page, after_key } = (await cluster.ask(searchOf(table, body), buckets)).aggregations.by
    for (const { key, doc_count } of page) found.push([key.at, doc_count])
    after = page.length > 0 ? after_key : undefined
  } while (after !== undefined)
  return found
}

/** The value behind a key; for a text too long to be its own key, as one of its documents has it. */
async function behind(cluster: Cluster, table: Table, field: string, key: Scalar): Promise<Scalar> {
  if (!isShortened(key)) return key
  const query = { term: { [pathOf(field)]: key } }
  const [hit] = await search(cluster, table, query, byId('asc', undefined), 1)
  return (hit && valueIn(hit._source, field)) ?? key
}

/** The value itself, where its key may be a shorter one; undefined or null where the document has none. */
function valueIn({ body }: Envelope, field: string): Scalar | null | undefined {
  return field === 'label_key' ? labelKeyOf(body as StoredFields) : (body[field] as Scalar | null | undefined)
}
