// Feedback of a caller on the turn of a trace, as the guidance layer reads it.
import * as z from 'zod'
import { label } from '../../../kernel/label/label.ts'
import { collection } from '../../../kernel/store/store.ts'

/** Thumbs up or down, correction, follow-up (document 002, event type user_feedback). */
const feedbackKind = z.enum(['up', 'down', 'correction', 'follow_up'])

export const feedbackFields = {
  trace_id: z
    .string()
    .regex(/^[0-9a-f]{32}$/, 'must be the trace id of a response: 32 hexadecimal digits in lower case')
    .meta({ description: 'Of the traceparent of the response' }),
  kind: feedbackKind,
  text: z.string().max(8_192).default('').meta({ description: 'Needed for a correction and a follow-up' }),
}

export const chatFeedback = collection({
  name: 'chat_feedback',
  schema: z.strictObject({
    tenant_id: z.string(),
    label,
    subject: z.string(),
    ...feedbackFields,
    conversation_id: z.string(),
    at: z.number(),
    request_digest: z.string(),
    expires_ts: z.number(),
  }),
  indexes: ['subject', 'trace_id', 'kind', 'at'],
})
