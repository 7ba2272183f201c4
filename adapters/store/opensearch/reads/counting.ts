// Counts and values of documents, by searches that answer for all of the index or not at all.
import type { DocumentTotal, Filter, ReadOptions, Scalar } from '../../../../daemon/kernel/store/store.ts'
import type { OpensearchCluster } from '../cluster/cluster.ts'
import { bucketsResponse, countResponse, totalResponse } from '../cluster/response-schemas.ts'
import { isShortened } from '../indexes/field-kind.ts'
import type { OpensearchTable } from '../indexes/table.ts'
import { buildQuery, fieldPath, requireFieldKind, type SearchQuery } from './query.ts'
import { readValue, search, searchRequest, segmentById } from './search.ts'

export async function countDocuments(
  cluster: OpensearchCluster,
  table: OpensearchTable,
  filter?: Filter,
  how?: ReadOptions,
): Promise<number> {
  const body = { query: buildQuery(table, filter, how?.read_scope) }
  return (await cluster.request({ method: 'POST', path: `/${table.alias}/_count`, body }, countResponse)).count
}

/** As countUpTo of the embedded store; it ends at `most` documents that match, so that it is `exact` more often. */
export async function countUpTo(
  cluster: OpensearchCluster,
  table: OpensearchTable,
  most: number,
  filter?: Filter,
  how?: ReadOptions,
): Promise<DocumentTotal> {
  const body = { query: buildQuery(table, filter, how?.read_scope), size: 0, track_total_hits: most + 1 }
  const { value } = (await cluster.request(searchRequest(table, body), totalResponse)).hits.total
  return value > most ? { total: most, total_is: 'at_least' } : { total: value, total_is: 'exact' }
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
