// One audit record for each public request: as the thread writes it down, as it is kept, and as it is shown.
import * as z from 'zod'
import { collection } from '../../../kernel/store/store.ts'
import { type ProxyReason, type RequestVerdict, reasons } from '../reasons.ts'

const reasonField = z
  .string()
  .refine((text): text is ProxyReason => Object.hasOwn(reasons, text), 'must be a known reason')

export const requestRecord = z
  .strictObject({
    at: z.iso.datetime(),
    source: z.string().meta({ description: 'Whom the request counts for, by the trusted hops' }),
    method: z.string(),
    path: z.string().meta({
      description: 'Normal form without prefix and query; what has none stands as it came, without its query',
    }),
    verdict: z.enum(['allow', 'denied', 'method_not_allowed'] satisfies readonly RequestVerdict[]),
    upstream_status: z.int().nullable().meta({ description: 'What the upstream answered; null when it was not asked' }),
    status: z.int().meta({ description: 'What the caller was answered; 0 for one who had left' }),
    reason: reasonField.meta({ description: 'Why: a word of docs/proxy.md' }),
    rule: z.string().optional().meta({ description: 'The rule of the allowlist that the request fits' }),
  })
  .meta({ id: 'ProxyRecord' })
export type RequestRecord = z.infer<typeof requestRecord>

export const storedRequestRecord = z.strictObject({
  tenant_id: z.string(),
  expires_ts: z.int(),
  ...requestRecord.shape,
})
export type StoredRequestRecord = z.infer<typeof storedRequestRecord>

/** One document for each request, where others search the index too. The interface names it; in a cluster site and role stand before it. */
export const requestRecords = collection({
  name: 'proxy',
  schema: storedRequestRecord,
  indexes: ['at', 'verdict', 'source'],
})

/**
 * What became of a segment of the journal: made with its record in the audit chain, so that each is there once. `lines` are
 * those of the file, byte for byte, where the records are not documents of their own; `until` is when the newest was noted.
 */
export const shippedSegment = z.strictObject({
  tenant_id: z.string(),
  expires_ts: z.int(),
  at: z.iso.datetime(),
  records: z.int().min(0),
  sha256: z.string(),
  until: z.int().optional(),
  lines: z.string().optional(),
})

export const shippedSegments = collection({ name: 'segments', schema: shippedSegment, indexes: ['until'] })

/** Which segments hold records of a verdict, of a source, or of both: see `marksOf`. */
export const segmentMark = z.strictObject({
  tenant_id: z.string(),
  expires_ts: z.int(),
  mark: z.string(),
  until: z.int(),
  segment: z.string(),
})

export const segmentMarks = collection({
  name: 'marks',
  schema: segmentMark,
  indexes: ['mark', 'until'],
  orders: [['mark', 'until']],
})
