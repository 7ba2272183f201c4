// Stores which callers the gateway has counted, so that every process of it can list them.
import type { Call } from '../../../kernel/operation/call.ts'
import type { Worker } from '../../../kernel/role/role.ts'
import { guardrailsPart } from '../guardrail/guard-call.ts'
import type { NotedUsage } from '../quota/call-meter.ts'
import { callUsages, usage_renewal_ms, usage_window_ms, usagePlace } from '../quota/model.ts'
import { settle } from '../settle.ts'

export const keepUsage: Worker = { name: 'keep-usage', when: { every_ms: 2_000 }, run }

const max_batch = 500
/** Twice those of a profile: names of former profiles are dropped. */
const max_guardrails = 512
async function run(call: Call): Promise<void> {
  const { meter } = call.part(guardrailsPart)
  const waiting = meter.listWaiting(call.now(), max_batch)
  if (waiting.length === 0) return
  const expires_ts = call.now() + usage_window_ms + 2 * usage_renewal_ms
  const store = call.store(callUsages)
  const outcomes = await store.bulk(
    waiting.map(({ id, guardrails, ...route }) => ({
      ...{ do: 'create' as const, id },
      value: { ...route, place: usagePlace(route), guardrails: [...guardrails], expires_ts },
    })),
  )
  for (const [at, usage] of waiting.entries()) {
    if (outcomes[at] === 'exists') await renew(call, usage, expires_ts)
    meter.markKept(usage)
  }
}

/** Another process may have noted other guardrails. */
async function renew(call: Call, { id, guardrails }: NotedUsage, expires_ts: number): Promise<void> {
  const change = call.store(callUsages).update(id, ({ value }) => {
    const isKnown = (one: NotedUsage['guardrails'][number]) =>
      value.guardrails.some(({ guardrail, reason }) => guardrail === one.guardrail && reason === one.reason)
    const added = guardrails.filter((each) => !isKnown(each))
    const kept = [...value.guardrails, ...added].slice(-max_guardrails)
    // A document of an earlier release has no place.
    return { next: { ...value, place: usagePlace(value), guardrails: kept, expires_ts }, answer: undefined }
  })
  await settle(change)
}
