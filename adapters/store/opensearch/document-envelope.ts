// A document as stored in the cluster: its body unchanged and not indexed, and beside it the fields that queries use.
import * as z from 'zod'
import { sha256 } from '../../../daemon/kernel/encoding/canonical-json.ts'
import type { Doc, StoredFields } from '../../../daemon/kernel/store/store.ts'
import { buildFields, type FieldKinds, indexKey } from './indexes/field-kind.ts'
import { deriveMarks, labelMarks } from './reads/read-scope.ts'

/** `write` names the write that made this version, so that a lost answer can be attributed to this process or another. */
export const documentEnvelope = z.strictObject({
  id: z.string(),
  /** The id where it is too long to be indexed. */
  long_id: z.string().optional(),
  version: z.int().min(1),
  write: z.string(),
  fields: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])),
  /** Absent in what was written before there were any, until its index is filled. */
  marks: labelMarks.optional(),
  body: z.record(z.string(), z.unknown()),
})
export type DocumentEnvelope = z.infer<typeof documentEnvelope>

/** Where a stored document stands in the history of its shard: what a conditional write is conditional on. */
export const concurrencyToken = z.object({ _seq_no: z.int().min(0), _primary_term: z.int().min(1) })
export type ConcurrencyToken = z.infer<typeof concurrencyToken>

/** As a bulk request puts it. */
export function writeCondition({ _seq_no, _primary_term }: ConcurrencyToken) {
  return { if_seq_no: _seq_no, if_primary_term: _primary_term }
}

export type FoundDocument = { readonly envelope: DocumentEnvelope; readonly token: ConcurrencyToken }

export function buildEnvelope(
  { id, version, value }: Doc<StoredFields>,
  write: string,
  kinds: FieldKinds,
): DocumentEnvelope {
  const key = String(indexKey(id))
  const found = { fields: buildFields(value, kinds), marks: deriveMarks(value) }
  return { id: key, ...(key === id ? {} : { long_id: id }), version, write, ...found, body: value }
}

export function documentId({ id, long_id }: DocumentEnvelope): string {
  return long_id ?? id
}

/** @throws ZodError when the body is not of its schema. */
export function parseDocument<T extends StoredFields>(held: DocumentEnvelope, schema: z.ZodType<T>): Doc<T> {
  return { id: documentId(held), version: held.version, value: schema.parse(held.body) }
}

/** Names in the cluster have 512 bytes: longer ids go by their digest, and so does what looks like one. */
export function clusterId(id: string): string {
  const isShort = Buffer.byteLength(id) <= 512 && !id.startsWith(digest_prefix)
  return isShort ? id : `${digest_prefix}${sha256(id)}`
}
const digest_prefix = 'sha256.'
