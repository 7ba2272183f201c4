// Says what the guardrails would do with a call, and why; the call is not made, and not counted.
import * as z from 'zod'
import { isRefusal, type Refusal, refuse } from '../../../kernel/error/errors.ts'
import { normaliseTarget } from '../../../kernel/forward/normal-target.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { offered_scheme } from '../resource/resource-uri.ts'
import { countKey, describeReason, type Guardrails, guardrailsPart, usedOf } from './guard-call.ts'
import { callKind, type GuardedCall } from './model.ts'
import { appliesTo, type GuardrailCount, judgeCall } from './rules.ts'

const word = z.string().min(1).max(256)

const input = z.strictObject({
  kind: callKind,
  subject: word.meta({ description: 'Of the caller' }),
  roles: z.array(word).max(32).default([]),
  level: word.optional().meta({ description: 'Level of its clearance' }),
  service: word.optional(),
  tool: z
    .string()
    .min(1)
    .max(4_400)
    .optional()
    .meta({ description: 'As the gateway offers it: service__tool, or the URI of a resource' }),
  method: z.string().min(1).max(32).optional(),
  path: z
    .string()
    .regex(/^\//, 'must begin with a slash')
    .max(2_048)
    .optional()
    .meta({ description: 'With its query' }),
  body_bytes: z.int().min(0).optional(),
  text: z.string().max(65_536).optional().meta({ description: 'Arguments of the tool, or message' }),
})

const countReport = z.strictObject({
  guardrail: z.string(),
  limit: z.int(),
  used: z.int().meta({ description: 'Calls of this caller that went on in the present window' }),
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
  allow: 'gateway:inspect',
  reads: true,

  async run(call, { text, body_bytes, level, service, path: target, ...given }) {
    const path = target === undefined ? undefined : readNormalPath(target)
    if (isRefusal(path)) return path
    const unnamed = checkName(given)
    if (unnamed) return unnamed
    const guardrails = call.part(guardrailsPart)
    if (level !== undefined && !guardrails.levels.includes(level))
      return refuse('invalid', `level must be one of ${guardrails.levels.join(', ')}`)
    const texts = text === undefined ? [] : [text]
    const judged: GuardedCall = {
      ...given,
      ...{ tenant_id: call.caller.tenant_id, level, path, body_bytes, texts },
      service: service ?? findService(given.tool),
    }
    const applying = guardrails.guardrails.filter((each) => appliesTo(each, judged)).map(({ name }) => name)
    const verdict = judgeCall(guardrails, judged)
    if ('denial' in verdict) {
      const { guardrail, reason } = verdict.denial
      return { outcome: 'refused' as const, guardrail, reason: describeReason(reason), applying, counts: [] }
    }
    const { ceiling, max_body_bytes } = verdict.limits
    const counts = await Promise.all(verdict.limits.counts.map((count) => readCount(guardrails, count, judged)))
    const spent = counts.find(({ used, limit }) => used >= limit)
    return {
      outcome: spent ? ('refused' as const) : ('allowed' as const),
      ...(spent ? { guardrail: spent.guardrail, reason: describeReason(spent.reason) } : {}),
      applying,
      ...(ceiling === undefined ? {} : { ceiling }),
      ...(Number.isFinite(max_body_bytes) ? { max_body_bytes } : {}),
      counts: counts.map(({ reason: _reason, ...count }) => count),
    }
  },
})

/** The name that the service itself has for it matches no guardrail: the answer would be that the call is allowed. */
function checkName({ kind, tool }: Pick<z.output<typeof input>, 'kind' | 'tool'>): Refusal | undefined {
  if (tool === undefined) return undefined
  const { fits, form } = kind === 'resource' ? offeredForms.resource : offeredForms.tool
  if (fits.test(tool)) return undefined
  return refuse('invalid', `tool must be named as the gateway offers it: ${form}`, [{ path: 'tool', message: form }])
}

const offeredUriPattern = new RegExp(`^${offered_scheme}//([^/]+)/.`)
const offeredForms = {
  resource: { fits: offeredUriPattern, form: `${offered_scheme}//service/URI` },
  tool: { fits: /^.+__./, form: 'service__tool' },
} as const

/** Of a tool, or the URI of a resource. */
function findService(tool = ''): string | undefined {
  return offeredUriPattern.exec(tool)?.[1] ?? (tool.split('__', 1)[0] || undefined)
}

/** As the gateway forwards it. */
function readNormalPath(target: string): string | Refusal {
  const normal = normaliseTarget(target, 0)
  if (!('denied' in normal)) return normal.path + normal.query
  return refuse('invalid', `servers could read this path differently: ${normal.denied}`, [
    { path: 'path', message: normal.denied },
  ])
}

async function readCount({ increment }: Guardrails, count: GuardrailCount, judged: GuardedCall) {
  const { guardrail, reason, limit, window_ms } = count
  const { count: counted } = await increment(countKey(count, judged), 0, window_ms)
  return { guardrail, reason, limit, used: usedOf(counted, count), window_s: window_ms / 1_000 }
}
