// The log says that an exchange ended where its end was stored, and nowhere else.
import { expect, test } from 'vitest'
import { JobLostError } from '../../../../kernel/job/fenced-call.ts'
import { newJob } from '../../../../kernel/job/rules.ts'
import type { Call } from '../../../../kernel/operation/call.ts'
import type { StoredExchange } from '../model.ts'
import { expireExchange } from './advance-exchange.ts'

const at = '2026-03-02T12:00:00.000Z'
const open = {
  ...{ state: 'running', part: 'asked', own: 'own.1', created_at: at, updated_at: at, agreed: [], keys: {}, sizes: {} },
  ...{ agreement: { parties: ['alpha', 'bravo'] }, ...newJob(undefined, undefined) },
} as unknown as StoredExchange

/** `stored`: the document that the change meets; undefined: another process has the job. */
async function expire(stored: StoredExchange | undefined): Promise<string[]> {
  const events: string[] = []
  const call = {
    ...{ now: () => Date.parse(at) + 9e9, nowIso: () => at, announce: () => undefined, wake: () => undefined },
    ...{ trace: { trace_id: '0' }, audited: () => ({}), log: { warn: (event: string) => events.push(event) } },
    settings: () => ({ exchange_hours: 1, exchange_idle_hours: 1 }),
    store: () => ({
      async update(id: string, rule: (current: { value: StoredExchange }) => { next?: object; answer: unknown }) {
        if (!stored) throw new JobLostError('another process has the job')
        const { next = stored, answer } = rule({ value: stored })
        return { doc: { id, version: 2, value: next }, answer }
      },
    }),
  } as unknown as Call
  await expireExchange(call, { id: 'xchg_1', version: 1, value: open }).catch(() => undefined)
  return events
}

test('an end that was stored is logged', async () => {
  expect(await expire(open)).toEqual(['resolution.exchange.ended'])
})

test('an end that another process stored, or prevented, is not', async () => {
  expect(await expire({ ...open, state: 'cancelled' })).toEqual([])
  expect(await expire(undefined)).toEqual([])
})
