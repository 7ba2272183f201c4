// Requests a synthesis for the tenant of an administrator: traces are mined at once, and the model is given one of them.
import * as z from 'zod'
import { isRefusal, type Refusal, refuse } from '../../../../kernel/error/errors.ts'
import { noSuchObject } from '../../../../kernel/error/missing-object.ts'
import type { Call } from '../../../../kernel/operation/call.ts'
import { operation } from '../../../../kernel/operation/operation.ts'
import { untilAborted } from '../../../../kernel/operation/until-aborted.ts'
import { guideModelPart } from '../chat/parts.ts'
import { learn_worker } from '../learning/learner.ts'
import { learningPart } from '../learning/parts.ts'
import { observations, type StoredObservation } from '../observation/model.ts'
import { guideSettings } from '../settings.ts'
import { synthesis_worker, synthesisPart } from './parts.ts'
import { type SynthesisResult, synthesisOutcomes, triggerOf } from './synthesis-queue.ts'

const time_limit_ms = 600_000
const max_looked_at = 20

export const trigger = operation({
  summary: 'Learn guidance from what was observed, without waiting for further traces',
  method: 'POST',
  path: '/api/v1/guide/learn',
  tool: 'guide_trigger_synthesis',
  surface: 'admin_chat',
  input: z.strictObject({
    trace_id: z.string().min(1).max(64).optional().meta({
      description: 'Trace that the model of the layer is given; default: that of the newest observation',
    }),
  }),
  output: z
    .strictObject({
      traces: z.int().meta({ description: 'Number of traces in memory that it is mined from' }),
      reply: z.string().meta({ description: 'Reply of the model, or what is done without one' }),
      outcome: z
        .enum(synthesisOutcomes)
        .optional()
        .meta({ description: 'Of the synthesis by the model; absent without one' }),
      confidence: z.number().min(0).max(1).optional(),
      changes: z.array(z.string()).meta({ description: 'What came of each change, such as "demote held"' }),
    })
    .meta({ id: 'GuideSynthesis' }),
  errors: ['not_found'],
  allow: 'guide:admin',
  status: 202,
  time_limit_ms,

  async run(call, { trace_id }) {
    const observation = await findObservation(call, trace_id)
    if (trace_id !== undefined && !observation) return noSuchObject('observation of the trace')
    const learner = call.part(learningPart)
    const { tenant_id } = call.caller
    learner.requested.add(tenant_id)
    call.wake(learn_worker)
    const windows = learner.windows.filter(({ scope }) => scope.tenant_id === tenant_id)
    const traces = windows.reduce((sum, { size }) => sum + size, 0)
    const mined = `${traces} traces are mined by rules`
    if (!call.settings(guideSettings).enabled)
      return { traces, reply: 'The guidance layer of this site is off (guide.enabled).', changes: [] }
    if (!call.part(guideModelPart).own)
      return { traces, reply: `${mined}: the guidance layer of this site has no model.`, changes: [] }
    if (!observation) return { traces, reply: `${mined}: there is no observation for the model.`, changes: [] }
    const result = await requestSynthesis(call, observation)
    return isRefusal(result) ? result : { traces, ...result, changes: [...result.changes] }
  },
})

/** The newest one that triggers a synthesis, of those that the administrator may see. */
async function findObservation(call: Call, trace_id: string | undefined): Promise<StoredObservation | undefined> {
  const ofTrace = { filter: { trace_id: trace_id ?? '' }, order: { field: 'batch_seq', direction: 'desc' } } as const
  const ofAll = { order: { field: 'create_ts', direction: 'desc' } } as const
  const query = { ...(trace_id === undefined ? ofAll : ofTrace), limit: max_looked_at, fresh: true }
  const { docs } = await call.store(observations).list(query)
  // Those of one batch have the same order to a store.
  const inOrder = docs
    .map(({ value }) => value)
    .toSorted((x, y) => y.batch_seq - x.batch_seq || y.batch_at - x.batch_at)
  return inOrder.find(({ event_type }) => triggerOf[event_type] !== undefined)
}

/** It is performed by the worker, as the curator: the administrator waits for the result. */
async function requestSynthesis(call: Call, observation: StoredObservation): Promise<SynthesisResult | Refusal> {
  const { tenant_id, label, trace_id, event_type, service, payload } = observation
  const { promise, resolve } = Promise.withResolvers<SynthesisResult>()
  const isTaken = call.part(synthesisPart).request({
    ...{ scope: { tenant_id, label }, trace_id, trigger: 'learn', event: { event_type, service, payload } },
    ...{ settled_ms: call.now(), resolve },
  })
  if (!isTaken) return refuse('unavailable', 'too many administrators wait for a synthesis: try again later')
  call.wake(synthesis_worker)
  return await untilAborted(call.signal, promise)
}
