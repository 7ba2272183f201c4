// Lists the calls of each caller by tool, and how much of its quotas is left.
import * as z from 'zod'
import type { Call } from '../../../kernel/operation/call.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { buildListQuery, listFields, pageSchema } from '../../../kernel/operation/paging.ts'
import type { CounterValue, KeyValue } from '../../../kernel/store/key-value.ts'
import { countKey, guardrailsPart, usedOf } from '../guardrail/guard-call.ts'
import { callKind } from '../guardrail/model.ts'
import { type GuardrailCount, listCounts } from '../guardrail/rules.ts'
import { type CallUsage, callUsages, usage_window_ms, usageId, usageKey } from './model.ts'

const rows_per_turn = 8

const word = z.string().min(1).max(256)

const quotaReport = z.strictObject({
  guardrail: z.string(),
  window_s: z.int(),
  limit: z.int(),
  used: z.int().meta({ description: 'Calls of the caller that went on under the guardrail, to all targets' }),
  left: z.int(),
  resets_at: z.iso.datetime().optional().meta({ description: 'End of the present window; absent: none has begun' }),
})

const callQuota = z
  .strictObject({
    subject: z.string(),
    kind: callKind,
    target: z
      .string()
      .meta({ description: 'Tool as the gateway offers it, or service of REST or of resources, or chat' }),
    calls: z.int().meta({ description: 'That went on, in a day from the first of them' }),
    refused: z.int().meta({ description: 'By guardrails, in a day from the first of them' }),
    quotas: z.array(quotaReport),
    left: z.int().optional().meta({ description: 'The least of its quotas; absent without any' }),
  })
  .meta({ id: 'CallQuota' })

export const list = operation({
  summary: 'List the calls of each caller by tool within a day, and how much of its quotas is used and left',
  method: 'GET',
  path: '/api/v2/gateway/quota',
  input: z.strictObject({
    ...listFields,
    subject: word.optional(),
    kind: callKind.optional(),
    target: word.optional(),
  }),
  output: pageSchema(callQuota).meta({ id: 'CallQuotaPage' }),
  errors: ['unavailable'],
  allow: 'gateway:admin',

  async run(call, { limit, cursor, ...filters }) {
    const order = { field: 'place', direction: 'asc' } as const
    const { docs, ...counted } = await call.store(callUsages).page(buildListQuery(filters, limit, cursor, order))
    const { guardrails, increment } = call.part(guardrailsPart)
    const limits = listCounts(guardrails)
    const counts = new CountReader(increment)
    const items: z.output<typeof callQuota>[] = []
    for (const { value } of docs) {
      items.push(await showUsage(call, counts, value, limits))
      // A key is a digest, and a profile may have hundreds of limits.
      if (items.length % rows_per_turn === 0) await call.pause()
    }
    return { items, ...counted }
  },
})

/** Rows of a caller share counts: each is read once for a page. */
class CountReader {
  readonly #increment: KeyValue['increment']
  readonly #read = new Map<string, Promise<CounterValue>>()

  constructor(increment: KeyValue['increment']) {
    this.#increment = increment
  }

  read(key: string, window_ms: number): Promise<CounterValue> {
    const known = this.#read.get(key) ?? this.#increment(key, 0, window_ms)
    this.#read.set(key, known)
    return known
  }
}

async function showUsage(
  call: Call,
  counts: CountReader,
  usage: CallUsage,
  every: readonly GuardrailCount[],
): Promise<z.output<typeof callQuota>> {
  const { subject, kind, target } = usage
  const id = usageId(usage)
  const limits = every.filter(({ guardrail, reason }) =>
    usage.guardrails.some((each) => each.guardrail === guardrail && each.reason === reason),
  )
  const [passed, refused, ...counted] = await Promise.all([
    counts.read(usageKey(id, 'passed'), usage_window_ms),
    counts.read(usageKey(id, 'refused'), usage_window_ms),
    ...limits.map((limit) => counts.read(countKey(limit, usage), limit.window_ms)),
  ])
  const now = call.now()
  const quotas = limits.map(({ guardrail, limit, window_ms }, at) => {
    const { count = 0, left_ms = 0 } = counted[at] ?? {}
    const used = usedOf(count, { limit })
    const resets = used === 0 ? {} : { resets_at: new Date(now + left_ms).toISOString() }
    return { guardrail, window_s: window_ms / 1_000, limit, used, left: limit - used, ...resets }
  })
  const left = quotas.length === 0 ? {} : { left: Math.min(...quotas.map((quota) => quota.left)) }
  return { subject, kind, target, calls: passed.count, refused: refused.count, quotas, ...left }
}
