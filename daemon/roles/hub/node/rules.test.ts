// Identity of a node, and when a silent node counts as lost.
import { expect, test } from 'vitest'
import { checkNodeIdentity, nodeStateAt, recordContact } from './rules.ts'

const enrolled = { alpha: { subject: 'node:alpha' }, zulu: { subject: 'node:zulu', tenant_id: 'other' } }
const refusalCode = (id: string, subject: string, tenant_id: string) =>
  checkNodeIdentity(id, enrolled, { subject, tenant_id }, 'home')?.code

test('only the enrolled subject, in the tenant of its coalition, may act as the node', () => {
  expect(refusalCode('alpha', 'node:alpha', 'home')).toBeUndefined()
  expect(refusalCode('zulu', 'node:zulu', 'other')).toBeUndefined()
  expect(refusalCode('alpha', 'node:alpha', 'other')).toBe('forbidden')
  expect(refusalCode('zulu', 'node:zulu', 'home')).toBe('forbidden')
  expect(refusalCode('alpha', 'node:zulu', 'home')).toBe('forbidden')
  expect(refusalCode('toString', 'node:alpha', 'home')).toBe('forbidden')
})

test('a refusal does not disclose whether the name is enrolled', () => {
  const caller = { subject: 'mallory', tenant_id: 'home' }
  expect(checkNodeIdentity('alpha', enrolled, caller, 'home')?.message).toBe(
    checkNodeIdentity('nobody', enrolled, caller, 'home')?.message,
  )
})

test('a node is lost after the limit of its silence', () => {
  expect(nodeStateAt(1_000, 1_500, 500)).toBe('present')
  expect(nodeStateAt(1_000, 1_501, 500)).toBe('lost')
})

test('a clock that was set back does not change the last contact', () => {
  const at = (heard_ts: number) => ({ heard_ts }) as Parameters<typeof recordContact>[0]
  expect(recordContact(at(2_000), 1_000).heard_ts).toBe(2_000)
  expect(recordContact(at(1_000), 2_000).heard_ts).toBe(2_000)
})
