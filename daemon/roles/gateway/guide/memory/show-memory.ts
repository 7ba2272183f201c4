// How an observation is shown to administrators: as a memory of the guidance layer.
import * as z from 'zod'
import type { Doc } from '../../../../kernel/store/store.ts'
import { eventTypes, type StoredObservation } from '../observation/model.ts'

export const memoryId = z.string().min(1).max(128)
export const tags = z.array(z.string().min(1).max(64)).max(64)
export const notes = z.string().max(8_192)

export const memory = z
  .strictObject({
    memory_id: z.string(),
    version: z.int(),
    event_type: z.enum(eventTypes),
    trace_id: z.string(),
    parent_trace_id: z.string().nullable(),
    conversation_id: z.string(),
    service: z.string(),
    timestamp: z.string(),
    caller_identity: z.strictObject({ username: z.string(), roles: z.array(z.string()) }),
    emitted_by: z.strictObject({
      token_subject: z.string(),
      token_roles: z.array(z.string()),
      context: z.enum(['http', 'in_process']),
    }),
    needs_review: z.boolean().meta({ description: 'The named caller is not the subject of the token, nor a service' }),
    payload: z.record(z.string(), z.unknown()).meta({ description: 'Untrusted, and cut to size' }),
    tags,
    notes,
    level: z.string().optional(),
    created_at: z.iso.datetime(),
    expires_at: z.iso.datetime(),
  })
  .meta({ id: 'GuideMemory' })

export function showMemory({ id, version, value }: Doc<StoredObservation>): z.output<typeof memory> {
  const { event_type, trace_id, parent_trace_id, conversation_id, service, timestamp, label } = value
  const { caller_identity, emitted_by, needs_review, payload, create_ts, expires_ts } = value
  return {
    ...{ memory_id: id, version, event_type, trace_id, parent_trace_id, conversation_id, service, timestamp },
    ...{ caller_identity, emitted_by, needs_review, payload, tags: value.tags, notes: value.notes },
    ...(label === undefined ? {} : { level: label.level }),
    created_at: new Date(create_ts).toISOString(),
    expires_at: new Date(expires_ts).toISOString(),
  }
}
