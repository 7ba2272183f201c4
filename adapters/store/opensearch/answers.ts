// What the cluster may answer to reads and writes; anything else is a failure.
import * as z from 'zod'
import { envelope, place } from './envelope.ts'

const hit = z.object({ _source: envelope, ...place.shape })
const complete = { timed_out: z.literal(false), _shards: z.object({ failed: z.literal(0) }) }

export const hits = z.object({ ...complete, hits: z.object({ hits: z.array(hit) }) })
export type Hit = z.infer<typeof hit>

export const counted = z.object({ _shards: z.object({ failed: z.literal(0) }), count: z.int().min(0) })

const bucket = z.object({
  key: z.object({ at: z.union([z.string(), z.number(), z.boolean()]) }),
  doc_count: z.int().min(0),
})
export const buckets = z.object({
  ...complete,
  aggregations: z.object({
    by: z.object({ buckets: z.array(bucket), after_key: z.record(z.string(), z.unknown()).optional() }),
  }),
})

const fault = z.object({ type: z.string() })
export const got = z.object({
  docs: z.array(
    z.union([
      z.object({ found: z.literal(true), _source: envelope, ...place.shape }),
      z.object({ found: z.literal(false) }),
      z.object({ error: fault }),
    ]),
  ),
})
export type Got = z.infer<typeof got>['docs'][number]

const item = z.object({ status: z.int(), error: fault.optional() })
/** Of each item the outcome, under the name of what was to be done. */
export const written = z.object({
  items: z.array(
    z.union([
      z.object({ create: item }).transform(({ create }) => create),
      z.object({ index: item }).transform(({ index }) => index),
      z.object({ delete: item }).transform((done) => done.delete),
    ]),
  ),
})
export type Written = z.infer<typeof item>

export const deleted = z.object({
  timed_out: z.literal(false),
  deleted: z.int().min(0),
  version_conflicts: z.int().min(0),
  failures: z.array(z.unknown()).max(0),
})

export const refreshed = z.object({ _shards: z.object({ failed: z.literal(0) }) })
