// An early end is notified to every site that knows of the exchange, and to no other.
import { expect, test } from 'vitest'
import { newJob } from '../../../../kernel/job/rules.ts'
import type { StoredExchange } from '../model.ts'
import { endEarly } from './end-early.ts'

const at = '2026-03-02T12:00:00.000Z'
const failure = { code: 'cancelled', reason: 'no' }

function listSitesToNotify(more: Partial<StoredExchange>, by?: string): readonly string[] {
  const agreement = { parties: ['alpha', 'bravo'], linker: 'charlie' } as unknown as StoredExchange['agreement']
  const principal = { subject: 'ann', tenant_id: 't', roles: [], grant: 'sealed' }
  const fields = { state: 'proposed', secret: 'aa', keys: { alpha: 'k' }, coming: {}, agreement, ...more }
  const current = { ...fields, ...newJob(principal, undefined) }
  const over = endEarly(current as StoredExchange, 'cancelled', failure, { at, ...(by === undefined ? {} : { by }) })
  expect(over).toMatchObject({ state: 'cancelled', keys: {}, job: { state: 'queued' }, job_due_ts: Date.parse(at) })
  expect(over.job).not.toHaveProperty('principal')
  expect(over).not.toHaveProperty('secret')
  expect(over).not.toHaveProperty('coming')
  return over.to_tell
}

test('a proposer notifies the sites that it has proposed to', () => {
  expect(listSitesToNotify({ part: 'proposer', told: [] })).toEqual([])
  expect(listSitesToNotify({ part: 'proposer', told: ['charlie'] })).toEqual(['charlie'])
  expect(listSitesToNotify({ part: 'proposer', told: ['charlie', 'bravo'] })).toEqual(['bravo', 'charlie'])
  expect(listSitesToNotify({ part: 'proposer', told: ['charlie', 'bravo'] }, 'charlie')).toEqual(['bravo'])
})

test('a linker that does not agree notifies the proposer: the other party has no proposal yet', () => {
  expect(listSitesToNotify({ part: 'linker' })).toEqual(['alpha'])
  expect(listSitesToNotify({ part: 'linker', state: 'running' })).toEqual(['alpha', 'bravo'])
})

test('the other party notifies both sites, since the linker received its proposal before', () => {
  expect(listSitesToNotify({ part: 'asked' })).toEqual(['alpha', 'charlie'])
})
