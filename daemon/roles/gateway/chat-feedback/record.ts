// Records feedback on a turn of the caller's own conversations: durable before the answer.
import * as z from 'zod'
import { isRefusal, refuse } from '../../../kernel/error/errors.ts'
import { checkRepeatedRequest } from '../../../kernel/operation/check-repeated-request.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { traceKey } from '../chat/conversation.ts'
import { chatTraces } from '../chat/model.ts'
import { observeFeedback } from '../guide/observation/observe-chat.ts'
import { chatFeedback, feedbackFields } from './model.ts'

/** On one trace. */
const max_feedback = 20

const recorded = z
  .strictObject({ feedback_id: z.string(), trace_id: z.string(), kind: feedbackFields.kind })
  .meta({ id: 'ChatFeedback' })

export const record = operation({
  summary: 'Record feedback on a response of the chat: thumbs up or down, a correction, a follow-up',
  method: 'POST',
  path: '/api/v1/chat/feedback',
  input: z.strictObject(feedbackFields),
  output: recorded,
  errors: ['not_found', 'rate_limited', 'idempotency_mismatch'],
  allow: 'gateway:chat',
  status: 201,
  creates: true,

  async run(call, input) {
    const { trace_id, kind, text } = input
    if ((kind === 'correction' || kind === 'follow_up') && text.trim() === '')
      return refuse('invalid', `${kind} needs a text`, [{ path: 'text', message: 'must not be blank' }])
    const { tenant_id, subject } = call.caller
    const trace = await call.store(chatTraces).find(traceKey(call, trace_id))
    if (!trace || trace.value.expires_ts <= call.now())
      return refuse('not_found', 'no response to this caller has this trace id, or it is kept no longer')
    const { label, conversation_id, expires_ts } = trace.value
    const store = call.store(chatFeedback)
    const feedback_id = call.newId('feedback')
    const before = await store.find(feedback_id)
    if (!before && (await store.count({ subject, trace_id })) >= max_feedback)
      return refuse('rate_limited', `this response has ${max_feedback} records of feedback, which is the most`)
    const value = {
      ...{ tenant_id, label, subject, trace_id, kind, text, conversation_id },
      ...{ at: call.now(), request_digest: call.requestDigest(), expires_ts },
    }
    const created = before ?? (await store.create(feedback_id, value))
    const doc = created === 'exists' ? await store.get(feedback_id) : created
    const repeated = checkRepeatedRequest(call, doc)
    if (!before && created !== 'exists') observeFeedback(call, { trace_id, kind, text, conversation_id })
    return isRefusal(repeated) ? repeated : { feedback_id, trace_id, kind: doc.value.kind }
  },
})
