// Observations: what the gateway saw at one turn boundary, tool call or end of a turn (document 002, "Observation envelope").
import * as z from 'zod'
import { collection } from '../../../../kernel/store/store.ts'
import { serviceName } from '../../../../shared/routing/ingress-settings.ts'
import { documentFields } from '../document-fields.ts'

export const eventTypes = [
  'intent_schema',
  'user_prompt',
  'llm_turn',
  'tool_output',
  'tool_error',
  'final_response',
  'user_feedback',
] as const
export type EventType = (typeof eventTypes)[number]

const traceId = z.string().regex(/^(?!0{32})[0-9a-f]{32}$/, 'must be a trace id: 32 hexadecimal digits in lower case')

const callerIdentity = z.strictObject({
  username: z.string().min(1).max(256),
  roles: z.array(z.string().min(1).max(256)).max(64),
})

/** As an emitter sends it. `emitted_by` is taken and dropped: the gateway alone stamps it. */
export const envelope = z.strictObject({
  event_type: z.enum(eventTypes),
  trace_id: traceId,
  parent_trace_id: traceId.nullable().default(null),
  conversation_id: z.string().max(256).default(''),
  /** Without a slash, which separates the service from the tool in labels. */
  service: serviceName,
  timestamp: z.iso.datetime({ offset: true }),
  caller_identity: callerIdentity.optional(),
  emitted_by: z.unknown().optional(),
  payload: z.record(z.string().max(256), z.unknown()),
})
export type Envelope = z.infer<typeof envelope>

const emitter = z.strictObject({
  token_subject: z.string(),
  token_roles: z.array(z.string()),
  context: z.enum(['http', 'in_process']),
})
export type Emitter = z.infer<typeof emitter>

const storedObservation = z.strictObject({
  ...documentFields,
  ...envelope.shape,
  caller_identity: callerIdentity,
  emitted_by: emitter,
  /** The named caller is not the subject of the token, and that is no service. */
  needs_review: z.boolean(),
  /** Digest of (trace_id, event_type, timestamp, service). */
  dedup_key: z.string(),
  /** Batch in which it was stored and applied to the graphs, and its place in it: the order of all observations. */
  batch_seq: z.int().min(0),
  batch_at: z.int().min(0),
  tags: z.array(z.string().min(1).max(64)).max(64),
  notes: z.string().max(8_192),
  expires_ts: z.number(),
})
export type StoredObservation = z.infer<typeof storedObservation>

export const observations = collection({
  name: 'guide_observation',
  schema: storedObservation,
  indexes: ['trace_id', 'event_type', 'service', 'conversation_id', 'needs_review', 'batch_seq', 'create_ts'],
  orders: [
    ['trace_id', 'batch_seq'],
    ['conversation_id', 'batch_seq'],
    ['service', 'batch_seq'],
  ],
  documented: {
    alias: 'guide_observations',
    fields: { trace_id: 'trace_id', event_type: 'event_type', service: 'service', create_ts: 'create_ts' },
  },
})
