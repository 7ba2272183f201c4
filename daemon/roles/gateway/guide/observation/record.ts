// Takes observations of emitters outside the gateway, and of administrators who replay or seed them.
import * as z from 'zod'
import { refuse } from '../../../../kernel/error/errors.ts'
import { operation } from '../../../../kernel/operation/operation.ts'
import { labelOfCaller } from '../../chat/rules.ts'
import { guideSettings } from '../settings.ts'
import { boundEnvelope } from './bound-payload.ts'
import { ingestPostFailureTotal } from './metrics.ts'
import type { Emitter } from './model.ts'
import { nameService, offerEntry } from './observe.ts'

const max_observations = 1_000

/** Each is checked in the background: one that is wrong must not fail those that came with it. */
const single = {
  event_type: z
    .unknown()
    .meta({ description: 'One of the seven event types; this and the following: of a single envelope' }),
  trace_id: z.unknown().meta({ description: 'Goes before that of the header' }),
  parent_trace_id: z.unknown(),
  conversation_id: z.unknown(),
  service: z.unknown(),
  timestamp: z.unknown(),
  caller_identity: z.unknown().meta({ description: 'Default: the caller' }),
  emitted_by: z.unknown().meta({ description: 'Ignored: the gateway sets it' }),
  payload: z.unknown(),
}
const input = z
  .strictObject({
    observations: z
      .array(z.unknown())
      .max(max_observations)
      .optional()
      .meta({ description: 'Envelopes; in this case no other field is set' }),
    ...single,
  })
  .partial()

export const record = operation({
  summary: 'Take observations into the queue; each envelope is checked in the background',
  method: 'POST',
  path: '/api/v1/guide/observations',
  input,
  output: z
    .strictObject({
      accepted: z.int().meta({ description: 'Number of envelopes in the queue' }),
      dropped: z.int().meta({ description: 'Number of envelopes that found the queue full' }),
    })
    .meta({ id: 'GuideObservationReceipt' }),
  errors: [],
  allow: 'guide:observe',
  status: 202,

  async run(call, { observations, ...one }) {
    const isSingle = Object.values(one).some((value) => value !== undefined)
    if (observations === undefined ? !isSingle : isSingle)
      return refuse('invalid', 'needs either one envelope, or a list of them in observations', [
        { path: 'observations', message: 'must be set without other fields, or be absent' },
      ])
    if (!call.settings(guideSettings).enabled) return { accepted: 0, dropped: 0 }
    const { tenant_id, subject, roles } = call.caller
    const emitter: Emitter = { token_subject: subject, token_roles: [...roles], context: 'http' }
    const label = labelOfCaller(call.caller, call.site.labels, undefined)
    const envelopes = observations ?? [one]
    let dropped = 0
    for (const [at, given] of envelopes.entries()) {
      const raw = boundEnvelope(given)
      const service = typeof raw.service === 'string' ? raw.service : ''
      const envelope = {
        ...{ raw, tenant_id, label, emitter, trace_id: call.trace.trace_id, accepted_ts: call.now() },
      }
      if (!offerEntry(call, { kind: 'envelope', envelope }, service)) {
        dropped += 1
        call.count(ingestPostFailureTotal, { service: nameService(call, service), kind: 'queue_full' })
      }
      if (at % 50 === 49) await call.pause()
    }
    return { accepted: envelopes.length - dropped, dropped }
  },
})
