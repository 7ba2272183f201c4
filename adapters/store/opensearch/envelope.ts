// A document as it lies in the cluster: its body untouched and not indexed, beside it what it is found and told apart by.
import * as z from 'zod'
import { sha256 } from '../../../daemon/kernel/encoding/canonical-json.ts'
import type { Doc, StoredFields } from '../../../daemon/kernel/store/store.ts'
import { type FieldKinds, fieldsOf, keyOf } from './field-kind.ts'
import { marks, marksOf } from './sight.ts'

/** `write` names the write that made this version: it tells ours from another's when an answer was lost. */
export const envelope = z.strictObject({
  id: z.string(),
  /** The id where it is too long to be indexed. */
  long_id: z.string().optional(),
  version: z.int().min(1),
  write: z.string(),
  fields: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])),
  /** Absent in what was written before there were any, until its index is filled. */
  marks: marks.optional(),
  body: z.record(z.string(), z.unknown()),
})
export type Envelope = z.infer<typeof envelope>

/** Where a stored document stands in the history of its shard: what a conditional write is conditional on. */
export const place = z.object({ _seq_no: z.int().min(0), _primary_term: z.int().min(1) })
export type Place = z.infer<typeof place>

/** As a bulk request puts it. */
export function conditionOf({ _seq_no, _primary_term }: Place) {
  return { if_seq_no: _seq_no, if_primary_term: _primary_term }
}

export type Held = { readonly envelope: Envelope; readonly place: Place }

export function envelopeOf({ id, version, value }: Doc<StoredFields>, write: string, kinds: FieldKinds): Envelope {
  const key = String(keyOf(id))
  const found = { fields: fieldsOf(value, kinds), marks: marksOf(value) }
  return { id: key, ...(key === id ? {} : { long_id: id }), version, write, ...found, body: value }
}

export function idOf({ id, long_id }: Envelope): string {
  return long_id ?? id
}

/** @throws ZodError when the body is not of its schema. */
export function docOf<T extends StoredFields>(held: Envelope, schema: z.ZodType<T>): Doc<T> {
  return { id: idOf(held), version: held.version, value: schema.parse(held.body) }
}

/** Names in the cluster have 512 bytes: longer ids go by their digest, and so does what looks like one. */
export function clusterIdOf(id: string): string {
  const isShort = Buffer.byteLength(id) <= 512 && !id.startsWith(digest_mark)
  return isShort ? id : `${digest_mark}${sha256(id)}`
}
const digest_mark = 'sha256.'
