// Fields that are the service's own: taken out of what a sender says, so that a signal may be sent as it was read.
import * as z from 'zod'
import { free, signal, systemMetadataFields } from './model.ts'

const { shape } = signal
const meaning = { description: 'The service’s own: taken out, and told in stripped_fields' }

/** Each of the type that it is read with. The path names the signal of a command, so `uid` is not among them. */
export const systemFields = {
  signal_id: shape.signal_id.optional().meta(meaning),
  version: shape.version.optional().meta(meaning),
  tenant_id: shape.tenant_id.optional().meta(meaning),
  schema_version: z.string().max(16).optional().meta(meaning),
  status: shape.status.optional().meta(meaning),
  created_by: shape.created_by.optional().meta(meaning),
  created_at: shape.created_at.optional().meta(meaning),
  updated_at: shape.updated_at.optional().meta(meaning),
  acknowledged_by: shape.acknowledged_by.meta(meaning),
  acknowledged_at: shape.acknowledged_at.meta(meaning),
  acknowledgment_note: shape.acknowledgment_note.meta(meaning),
  standing: shape.standing.optional().meta(meaning),
  silence_id: shape.silence_id.meta(meaning),
  merged_into: shape.merged_into.meta(meaning),
  merged_at: shape.merged_at.meta(meaning),
  merged_by: shape.merged_by.meta(meaning),
  merged_signals: shape.merged_signals.meta(meaning),
  linked_insight_ids: shape.linked_insight_ids.max(1_000).optional().meta(meaning),
}
const names: ReadonlySet<string> = new Set(Object.keys(systemFields))

/** Of a command, which changes no metadata by itself. */
export const commandSystemFields = { ...systemFields, metadata: free.optional().meta(meaning) }

export const senderMetadata = free.optional().meta({ description: 'Whatever else the source says' })

export const changedSignal = signal
  .extend({
    stripped_fields: z
      .array(z.string())
      .meta({ description: 'Fields of the request that are the service’s own and were taken out' }),
  })
  .meta({ id: 'ChangedSignal' })

/** Names of the service's own fields in what was said, in order. */
export function strippedOf(given: Readonly<Record<string, unknown>>, isCommand: boolean): string[] {
  const isOwn = (name: string) => names.has(name) || (name === 'uid' && !isCommand)
  const own = Object.keys(given).filter((name) => given[name] !== undefined && isOwn(name))
  const metadata = Object.keys((given.metadata ?? {}) as object)
  const inside = metadata.filter((name) => isCommand || systemMetadataFields.includes(name))
  return [...own, ...inside.map((name) => `metadata.${name}`)].sort()
}

/** What a sender says under `metadata`, without what is the service's own. */
export function ownMetadata(given: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  return Object.fromEntries(Object.entries(given).filter(([name]) => !systemMetadataFields.includes(name)))
}
