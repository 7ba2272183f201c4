// Fields that the service sets: removed from requests, so that a client may send a signal as it read it.
import * as z from 'zod'
import { freeFields, signal, systemMetadataFields } from './model.ts'

const { shape } = signal
const strippedFieldMeta = { description: 'Set by the service; removed from requests and listed in stripped_fields' }

/** Each has the type of the response. `uid` is not among them, since the path of a command names the signal. */
export const systemFields = {
  signal_id: shape.signal_id.optional().meta(strippedFieldMeta),
  version: shape.version.optional().meta(strippedFieldMeta),
  tenant_id: shape.tenant_id.optional().meta(strippedFieldMeta),
  schema_version: z.string().max(16).optional().meta(strippedFieldMeta),
  status: shape.status.optional().meta(strippedFieldMeta),
  created_by: shape.created_by.optional().meta(strippedFieldMeta),
  created_at: shape.created_at.optional().meta(strippedFieldMeta),
  updated_at: shape.updated_at.optional().meta(strippedFieldMeta),
  acknowledged_by: shape.acknowledged_by.meta(strippedFieldMeta),
  acknowledged_at: shape.acknowledged_at.meta(strippedFieldMeta),
  acknowledgment_note: shape.acknowledgment_note.meta(strippedFieldMeta),
  visibility: shape.visibility.optional().meta(strippedFieldMeta),
  silence_id: shape.silence_id.meta(strippedFieldMeta),
  merged_into: shape.merged_into.meta(strippedFieldMeta),
  merged_at: shape.merged_at.meta(strippedFieldMeta),
  merged_by: shape.merged_by.meta(strippedFieldMeta),
  merged_signals: shape.merged_signals.meta(strippedFieldMeta),
  linked_insight_ids: shape.linked_insight_ids.max(1_000).optional().meta(strippedFieldMeta),
}
const systemFieldNames: ReadonlySet<string> = new Set(Object.keys(systemFields))

/** The system fields of a command, which does not change metadata itself. */
export const commandSystemFields = { ...systemFields, metadata: freeFields.optional().meta(strippedFieldMeta) }

export const senderMetadata = freeFields.optional().meta({ description: 'Further data of the source' })

export const changedSignal = signal
  .extend({
    stripped_fields: z
      .array(z.string())
      .meta({ description: 'Fields of the request that the service sets itself and removed' }),
  })
  .meta({ id: 'ChangedSignal' })

/** Names of the system fields in a request, in order. */
export function listStrippedFields(input: Readonly<Record<string, unknown>>, isCommand: boolean): string[] {
  const isOwn = (name: string) => systemFieldNames.has(name) || (name === 'uid' && !isCommand)
  const names = Object.keys(input).filter((name) => input[name] !== undefined && isOwn(name))
  const metadata = Object.keys((input.metadata ?? {}) as object)
  const inside = metadata.filter((name) => isCommand || systemMetadataFields.includes(name))
  return [...names, ...inside.map((name) => `metadata.${name}`)].sort()
}

/** The `metadata` of the sender without system fields. */
export function withoutSystemMetadata(input: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  return Object.fromEntries(Object.entries(input).filter(([name]) => !systemMetadataFields.includes(name)))
}
