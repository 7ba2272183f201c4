// An early end is notified to every site that knows of the exchange, and to no other.
import { expect, test } from 'vitest'
import type { StoredExchange } from '../model.ts'
import { endEarly } from './end-early.ts'

const at = '2026-03-02T12:00:00.000Z'
const failure = { code: 'cancelled', reason: 'no' }

function listSitesToNotify(self: string, more: Partial<StoredExchange>, by = self): readonly string[] {
  const agreement = { parties: ['alpha', 'bravo'], linker: 'charlie' } as unknown as StoredExchange['agreement']
  const current = { state: 'proposed', secret: 'aa', keys: { alpha: 'k' }, coming: {}, agreement, ...more }
  const over = endEarly(current as StoredExchange, 'cancelled', failure, { self, by, at })
  expect(over).toMatchObject({ state: 'cancelled', keys: {}, owes: 1 })
  expect(over).not.toHaveProperty('secret')
  expect(over).not.toHaveProperty('coming')
  return over.to_tell
}

test('a proposer notifies the sites that it has proposed to', () => {
  expect(listSitesToNotify('alpha', { part: 'proposer', told: [] })).toEqual([])
  expect(listSitesToNotify('alpha', { part: 'proposer', told: ['charlie'] })).toEqual(['charlie'])
  expect(listSitesToNotify('alpha', { part: 'proposer', told: ['charlie', 'bravo'] })).toEqual(['bravo', 'charlie'])
  expect(listSitesToNotify('alpha', { part: 'proposer', told: ['charlie', 'bravo'] }, 'charlie')).toEqual(['bravo'])
})

test('a linker that does not agree notifies the proposer: the other party has no proposal yet', () => {
  expect(listSitesToNotify('charlie', { part: 'linker' })).toEqual(['alpha'])
  expect(listSitesToNotify('charlie', { part: 'linker', state: 'running' })).toEqual(['alpha', 'bravo'])
})

test('the other party notifies both sites, since the linker received its proposal before', () => {
  expect(listSitesToNotify('bravo', { part: 'asked' })).toEqual(['alpha', 'charlie'])
})
