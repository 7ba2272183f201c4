// Callers are noted once for their guardrails, within a bound, and again after an hour.
import { beforeEach, expect, test } from 'vitest'
import type { GuardedCall } from '../guardrail/model.ts'
import type { GuardrailCount } from '../guardrail/rules.ts'
import { CallMeter } from './call-meter.ts'

let counted: string[]
let meter: CallMeter
beforeEach(() => {
  counted = []
  meter = new CallMeter(async (key) => {
    counted.push(key.split(':')[1] ?? '')
    return { count: 1, left_ms: 1 }
  })
})

const call = (subject: string): GuardedCall => ({
  ...{ kind: 'tool', tenant_id: 't', subject, roles: [], level: undefined, service: 'maps', tool: 'maps__route' },
  ...{ body_bytes: 0, texts: [] },
})
const rate: GuardrailCount = { guardrail: 'pace', reason: 'rate', limit: 1, window_ms: 60_000 }
const waiting = (now = 1) => meter.listWaiting(now, 20_000)
const keepAll = () => {
  for (const usage of waiting()) meter.markKept(usage)
}

test('every call is counted by its outcome', () => {
  meter.note(call('ann'), [], 'passed')
  meter.note(call('ann'), [], 'refused')
  expect(counted).toEqual(['passed', 'refused'])
})

test('a caller waits until it is kept, and again for another guardrail', () => {
  meter.note(call('ann'), [], 'passed')
  expect(waiting()).toMatchObject([{ subject: 'ann', target: 'maps__route', guardrails: [] }])
  keepAll()
  meter.note(call('ann'), [], 'passed')
  expect(waiting()).toEqual([])
  meter.note(call('ann'), [rate], 'passed')
  meter.note(call('ann'), [{ ...rate, reason: 'quota' }], 'passed')
  expect(waiting()).toMatchObject([
    {
      guardrails: [
        { guardrail: 'pace', reason: 'rate' },
        { guardrail: 'pace', reason: 'quota' },
      ],
    },
  ])
  keepAll()
  meter.note(call('ann'), [rate], 'passed')
  meter.note(call('ann'), [], 'refused')
  expect(waiting()).toEqual([])
})

test('reads are counted by service: a template has any number of URIs', () => {
  for (const tool of ['gateway://maps/notes://by/1', 'gateway://maps/notes://by/2'])
    meter.note({ ...call('ann'), kind: 'resource', tool }, [], 'passed')
  expect(waiting()).toMatchObject([{ kind: 'resource', target: 'maps' }])
})

test('a guardrail that is noted while its caller is written waits for the next round', () => {
  meter.note(call('ann'), [], 'passed')
  const [written] = waiting()
  meter.note(call('ann'), [rate], 'passed')
  if (written) meter.markKept(written)
  expect(waiting()).toMatchObject([{ guardrails: [{ guardrail: 'pace' }] }])
})

test('after an hour every caller is noted again', () => {
  waiting(1_000)
  meter.note(call('ann'), [], 'passed')
  keepAll()
  expect(waiting(3_600_000)).toEqual([])
  waiting(3_601_000)
  meter.note(call('ann'), [], 'passed')
  expect(waiting(3_601_000)).toHaveLength(1)
})

test('no more callers are remembered than there is room for', () => {
  for (let at = 0; at < 10_050; at += 1) meter.note(call(`caller-${at}`), [], 'passed')
  expect(waiting()).toHaveLength(10_000)
  keepAll()
  meter.note(call('late'), [], 'passed')
  expect(waiting()).toHaveLength(1)
})

test('a count that fails refuses nothing', async () => {
  const failing = new CallMeter(() => Promise.reject(new Error('down')))
  failing.note(call('ann'), [], 'passed')
  await Promise.resolve()
  expect(failing.listWaiting(1, 10)).toHaveLength(1)
})
