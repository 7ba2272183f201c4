// Each POST operation honours Idempotency-Key and declares its mismatch, or is in the table of those that need no key.
// test/every-operation.test.ts sends each of the first kind twice with one content, and once with another.
import { expect, test } from 'vitest'
import { everyOperation } from '../daemon/every-role.ts'
import { unkeyedBuiltIns, unkeyedOperations } from './support/every-operation/unkeyed-operations.ts'

const posts = everyOperation.filter(({ operation }) => operation.method === 'POST')
const keyed = posts.filter(({ operation }) => operation.creates)
const addressWithinRole = (address: string) => address.slice(address.indexOf('.') + 1)
const isUnkeyed = (address: string) => address in unkeyedOperations || addressWithinRole(address) in unkeyedBuiltIns

test('an operation that honours a key declares the refusal of another request under it', () => {
  expect(keyed.length).toBeGreaterThan(12)
  const silent = keyed.filter(({ operation }) => !operation.errors.includes('idempotency_mismatch'))
  expect(silent.map(({ address }) => address)).toEqual([])
})

test('an operation that ignores the key is in the table with its reason', () => {
  const missing = posts.filter(({ address, operation }) => !operation.creates && !isUnkeyed(address))
  const remedy = 'declare `creates`, or give the reason in test/support/every-operation/unkeyed-operations.ts'
  expect(
    missing.map(({ address }) => address),
    remedy,
  ).toEqual([])
})

test('the table holds no operation that is gone or honours the key', () => {
  const unkeyed = posts.filter(({ operation }) => !operation.creates).map(({ address }) => address)
  const stale = Object.keys(unkeyedOperations).filter((address) => !unkeyed.includes(address))
  const staleBuiltIns = Object.keys(unkeyedBuiltIns).filter(
    (address) => !unkeyed.some((each) => addressWithinRole(each) === address),
  )
  expect([stale, staleBuiltIns]).toEqual([[], []])
})

test('only an operation that creates reads the key', () => {
  const others = everyOperation.filter(({ operation }) => operation.creates && operation.method !== 'POST')
  expect(others.map(({ address }) => address)).toEqual([])
})
