// Calls are counted by the guardrails that let them go on: a refused call uses nothing up.
import { beforeEach, expect, test } from 'vitest'
import { memoryKeyValue } from '../../../adapters/keyvalue/memory/memory-keyvalue.ts'
import { isRefusal } from '../../../daemon/kernel/error/errors.ts'
import type { KeyValue } from '../../../daemon/kernel/store/key-value.ts'
import {
  countKey,
  GuardrailRefusal,
  type Guardrails,
  guardCall,
} from '../../../daemon/roles/gateway/guardrail/guard-call.ts'
import type { GuardedCall } from '../../../daemon/roles/gateway/guardrail/model.ts'
import type { GuardrailCount } from '../../../daemon/roles/gateway/guardrail/rules.ts'
import { CallMeter } from '../../../daemon/roles/gateway/quota/call-meter.ts'

const call: GuardedCall = {
  ...{
    kind: 'tool',
    tenant_id: 't',
    subject: 'ann',
    roles: [],
    level: undefined,
    service: 'maps',
    tool: 'maps__route',
  },
  ...{ body_bytes: 0, texts: [] },
}
const daily = { name: 'daily', calls_per_day: 10, deny: false, searches: [] }
const pace = { name: 'pace', calls_per_minute: 2, deny: false, searches: [] }
const talk = { name: 'talk', calls_per_day: 5, deny: false, searches: [] }

let now_ms: number
let keyValue: KeyValue
beforeEach(() => {
  now_ms = 0
  keyValue = memoryKeyValue(() => now_ms)
})

const guardrailsOf = (increment: KeyValue['increment'], ...guardrails: Guardrails['guardrails']): Guardrails => ({
  ...{ guardrails, levels: [], increment },
  meter: new CallMeter(async () => ({ count: 1, left_ms: 1 })),
})
const counted = async (guardrail: string, reason: GuardrailCount['reason']) =>
  (await keyValue.increment(countKey({ guardrail, reason }, call), 0, 1)).count

test('a call that one guardrail refuses leaves the counts of the others as they were', async () => {
  const guardrails = guardrailsOf(keyValue.increment, daily, pace, talk)
  const outcomes: (string | undefined)[] = []
  for (let at = 0; at < 6; at += 1) {
    const answer = await guardCall(guardrails, call)
    outcomes.push(answer instanceof GuardrailRefusal ? answer.denial.guardrail : undefined)
  }
  expect(outcomes).toEqual([undefined, undefined, 'pace', 'pace', 'pace', 'pace'])
  expect([await counted('daily', 'quota'), await counted('talk', 'quota')]).toEqual([2, 2])
})

test('a call that cannot be counted to the end gives back its turns', async () => {
  const failing: KeyValue['increment'] = async (key, by, life_ms) => {
    if (key.includes('pace')) throw new Error('down')
    return await keyValue.increment(key, by, life_ms)
  }
  const answer = await guardCall(guardrailsOf(failing, daily, pace), call)
  expect(isRefusal(answer) && answer.code).toBe('unavailable')
  expect(await counted('daily', 'quota')).toBe(0)
})

test('a turn of a window that is about to end is not given back to the next one', async () => {
  const guardrails = guardrailsOf(keyValue.increment, daily, pace)
  for (let at = 0; at < 2; at += 1) await guardCall(guardrails, call)
  now_ms = 86_400_000 - 5_000
  for (let at = 0; at < 3; at += 1) await guardCall(guardrails, call)
  expect(await counted('daily', 'quota')).toBe(5)
  now_ms = 86_400_000
  expect(await counted('daily', 'quota')).toBe(0)
})
