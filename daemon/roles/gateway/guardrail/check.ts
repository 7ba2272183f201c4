// Says what the guardrails would do with a call, and why; the call is not made, and not counted.
import * as z from 'zod'
import { operation } from '../../../kernel/operation/operation.ts'
import { countKey, describeReason, type Guardrails, guardrailsPart } from './guard-call.ts'
import { callKind, type GuardedCall } from './model.ts'
import { appliesTo, type GuardrailCount, judgeCall } from './rules.ts'

const word = z.string().min(1).max(256)

const input = z.strictObject({
  kind: callKind,
  subject: word.meta({ description: 'Of the caller' }),
  roles: z.array(word).max(32).default([]),
  level: word.optional().meta({ description: 'Level of its clearance' }),
  service: word.optional(),
  tool: word.optional().meta({ description: 'As the gateway offers it: service__tool' }),
  method: z.string().min(1).max(32).optional(),
  path: z.string().startsWith('/').max(2_048).optional().meta({ description: 'With its query' }),
  body_bytes: z.int().min(0).optional(),
  text: z.string().max(65_536).optional().meta({ description: 'Arguments of the tool, or message' }),
})

const countReport = z.strictObject({
  guardrail: z.string(),
  limit: z.int(),
  used: z.int().meta({ description: 'Calls of this caller in the present window' }),
  window_s: z.int(),
})

const guardrailReport = z
  .strictObject({
    outcome: z.enum(['allowed', 'refused']),
    guardrail: z.string().optional().meta({ description: 'That refuses the call' }),
    reason: z.string().optional(),
    applying: z.array(z.string()).meta({ description: 'Guardrails that are for the call' }),
    ceiling: z.string().optional().meta({ description: 'Level up to which data is available to it' }),
    max_body_bytes: z.number().optional(),
    counts: z.array(countReport),
  })
  .meta({ id: 'GuardrailReport' })

export const check = operation({
  summary: 'Say what the guardrails would do with a call',
  method: 'POST',
  path: '/api/v2/gateway/guardrail/check',
  input,
  output: guardrailReport,
  errors: ['unavailable'],
  allow: 'gateway:read',

  async run(call, { text, body_bytes, level, service, ...given }) {
    const guardrails = call.part(guardrailsPart)
    const texts = text === undefined ? [] : [text]
    const judged: GuardedCall = { ...given, ...{ tenant_id: call.caller.tenant_id, level, service, body_bytes, texts } }
    const applying = guardrails.guardrails.filter((each) => appliesTo(each, judged)).map(({ name }) => name)
    const verdict = judgeCall(guardrails, judged)
    if ('denial' in verdict) {
      const { guardrail, reason } = verdict.denial
      return { outcome: 'refused' as const, guardrail, reason: describeReason(reason), applying, counts: [] }
    }
    const { ceiling, max_body_bytes } = verdict.limits
    const counts = await Promise.all(verdict.limits.counts.map((count) => readCount(guardrails, count, judged)))
    const spent = counts.find(({ used, limit }) => used >= limit)
    const spentReason = verdict.limits.counts.find(({ guardrail }) => guardrail === spent?.guardrail)?.reason
    return {
      outcome: spent ? ('refused' as const) : ('allowed' as const),
      ...(spent && spentReason ? { guardrail: spent.guardrail, reason: describeReason(spentReason) } : {}),
      applying,
      ...(ceiling === undefined ? {} : { ceiling }),
      ...(Number.isFinite(max_body_bytes) ? { max_body_bytes } : {}),
      counts,
    }
  },
})

async function readCount({ increment }: Guardrails, count: GuardrailCount, judged: GuardedCall) {
  const { guardrail, limit, window_ms } = count
  const { count: used } = await increment(countKey(count, judged), 0, window_ms)
  return { guardrail, limit, used, window_s: window_ms / 1_000 }
}
