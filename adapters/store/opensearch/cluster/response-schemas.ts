// Schemas of the cluster's answers to reads and writes; any other answer is a failure.
import * as z from 'zod'
import { concurrencyToken, documentEnvelope } from '../document-envelope.ts'

const searchHit = z.object({ _source: documentEnvelope, ...concurrencyToken.shape })
const completeResponse = { timed_out: z.literal(false), _shards: z.object({ failed: z.literal(0) }) }

export const searchResponse = z.object({ ...completeResponse, hits: z.object({ hits: z.array(searchHit) }) })
export type SearchHit = z.infer<typeof searchHit>

export const countResponse = z.object({ _shards: z.object({ failed: z.literal(0) }), count: z.int().min(0) })

/** The count ends at the bound of the request, `track_total_hits`. */
export const totalResponse = z.object({
  ...completeResponse,
  hits: z.object({ total: z.object({ value: z.int().min(0) }) }),
})

const bucket = z.object({
  key: z.object({ at: z.union([z.string(), z.number(), z.boolean()]) }),
  doc_count: z.int().min(0),
})
export const bucketsResponse = z.object({
  ...completeResponse,
  aggregations: z.object({
    by: z.object({ buckets: z.array(bucket), after_key: z.record(z.string(), z.unknown()).optional() }),
  }),
})

const errorBody = z.object({ type: z.string() })
export const multiGetResponse = z.object({
  docs: z.array(
    z.union([
      z.object({ found: z.literal(true), _source: documentEnvelope, ...concurrencyToken.shape }),
      z.object({ found: z.literal(false) }),
      z.object({ error: errorBody }),
    ]),
  ),
})
export type MultiGetItem = z.infer<typeof multiGetResponse>['docs'][number]

const bulkItem = z.object({ status: z.int(), error: errorBody.optional() })
/** The outcome of each item, under the name of its action. */
export const bulkResponse = z.object({
  items: z.array(
    z.union([
      z.object({ create: bulkItem }).transform(({ create }) => create),
      z.object({ index: bulkItem }).transform(({ index }) => index),
      z.object({ delete: bulkItem }).transform((done) => done.delete),
    ]),
  ),
})
export type BulkItemResult = z.infer<typeof bulkItem>

export const deleteByQueryResponse = z.object({
  timed_out: z.literal(false),
  deleted: z.int().min(0),
  version_conflicts: z.int().min(0),
  failures: z.array(z.unknown()).max(0),
})

export const refreshResponse = z.object({ _shards: z.object({ failed: z.literal(0) }) })
