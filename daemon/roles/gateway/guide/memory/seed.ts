// Seeds an observation by hand: durable, and in the graphs, before the answer.
import * as z from 'zod'
import { isRefusal, refuse } from '../../../../kernel/error/errors.ts'
import { operation } from '../../../../kernel/operation/operation.ts'
import { labelOfCaller } from '../../chat/rules.ts'
import { boundPayload } from '../observation/bound-payload.ts'
import { storePending } from '../observation/ingest-batch.ts'
import { envelope, observations } from '../observation/model.ts'
import { observerPart } from '../observation/parts.ts'
import { observationIds, stampObservation } from '../observation/rules.ts'
import { runGraphTask } from '../observation/run-graph-task.ts'
import { guideSettings } from '../settings.ts'
import { memory, notes, showMemory, tags } from './show-memory.ts'

const { emitted_by: _, trace_id, timestamp, ...fields } = envelope.shape

export const seed = operation({
  summary: 'Seed an observation by hand',
  method: 'POST',
  path: '/api/v1/guide/memories',
  input: z.strictObject({
    ...fields,
    trace_id: trace_id.optional().meta({ description: 'Default: that of the request' }),
    timestamp: timestamp.optional().meta({ description: 'Default: now' }),
    tags: tags.default([]),
    notes: notes.default(''),
  }),
  output: memory,
  errors: [],
  allow: 'guide:admin',
  status: 201,

  async run(call, { tags: given, notes: written, ...event }) {
    const { subject, roles, tenant_id } = call.caller
    const { principals } = call.part(observerPart)
    const now = call.now()
    const stamped = stampObservation(
      {
        ...{ ...event, tenant_id, label: labelOfCaller(call.caller, call.site.labels, undefined) },
        trace_id: event.trace_id ?? call.trace.trace_id,
        timestamp: event.timestamp ?? new Date(now).toISOString(),
        caller_identity: event.caller_identity ?? { username: subject, roles: [...roles] },
        emitted_by: { token_subject: subject, token_roles: [...roles], context: 'http' },
        payload: boundPayload(event.payload),
      },
      now,
      principals,
    )
    const pending = { ...stamped, tags: given, notes: written }
    const stored = await runGraphTask(call, (worker) => storePending(worker, [pending]))
    if (isRefusal(stored)) return stored
    const window_ms = call.settings(guideSettings).ingest_dedup_window_s * 1_000
    // A repeat is the observation that was there.
    for (const id of observationIds(pending, now, window_ms)) {
      const doc = await call.store(observations).find(id)
      if (doc) return showMemory(doc)
    }
    throw refuse('unavailable', 'the observation was removed meanwhile; seed it again')
  },
})
