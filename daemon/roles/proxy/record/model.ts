// The audit record of a public request: as the thread writes it, as it is stored, and as it is returned.
import * as z from 'zod'
import { collection } from '../../../kernel/store/store.ts'
import { type ProxyReason, type RequestVerdict, reasons } from '../reasons.ts'

const reasonField = z
  .string()
  .refine((text): text is ProxyReason => Object.hasOwn(reasons, text), 'must be a known reason')

export const requestRecord = z
  .strictObject({
    at: z.iso.datetime(),
    source: z.string().meta({ description: 'Source of the request, according to the trusted hops' }),
    method: z.string(),
    path: z.string().meta({
      description: 'Normal form without prefix and query; a path without a normal form as received, without its query',
    }),
    verdict: z.enum(['allow', 'denied', 'method_not_allowed'] satisfies readonly RequestVerdict[]),
    upstream_status: z
      .int()
      .nullable()
      .meta({ description: 'Status of the upstream; null when the request was not forwarded' }),
    status: z.int().meta({ description: 'Status of the response; 0 when the caller had disconnected' }),
    reason: reasonField.meta({ description: 'Reason code, as listed in docs/proxy.md' }),
    rule: z.string().optional().meta({ description: 'The matching rule of the allowlist' }),
  })
  .meta({ id: 'ProxyRecord' })
export type RequestRecord = z.infer<typeof requestRecord>

const storedRequestRecord = z.strictObject({
  tenant_id: z.string(),
  expires_ts: z.int(),
  ...requestRecord.shape,
})
export type StoredRequestRecord = z.infer<typeof storedRequestRecord>

/** Records as documents, one for each request, where other software reads the index. */
export const requestRecords = collection({
  name: 'proxy',
  schema: storedRequestRecord,
  indexes: ['at', 'verdict', 'source', 'method', 'path', 'upstream_status', 'status', 'rule'],
  orders: [
    ['verdict', 'at'],
    ['status', 'at'],
    ['rule', 'at'],
    ['source', 'at'],
  ],
  documented: {
    alias: 'proxy',
    fields: {
      ...{ at: 'at', source: 'source', method: 'method', path: 'path' },
      ...{ verdict: 'verdict', upstream_status: 'upstream_status', status: 'status', rule: 'rule' },
    },
  },
})

/**
 * A shipped segment of the journal, stored with its record in the audit chain so that it is shipped once. `lines`:
 * the lines of the file, byte for byte, where records are not separate documents; `until`: time of the newest record;
 * `marks_version`: that of its marks, absent for the first.
 */
const shippedSegment = z.strictObject({
  tenant_id: z.string(),
  expires_ts: z.int(),
  at: z.iso.datetime(),
  records: z.int().min(0),
  sha256: z.string(),
  until: z.int().optional(),
  lines: z.string().optional(),
  marks_version: z.int().optional(),
})

export const shippedSegments = collection({
  name: 'segments',
  schema: shippedSegment,
  indexes: ['until', 'marks_version'],
  orders: [['marks_version', 'until']],
})

/** Index of the segments with records of a verdict, status, rule or source: see `deriveSegmentMarks`. */
const segmentMark = z.strictObject({
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
