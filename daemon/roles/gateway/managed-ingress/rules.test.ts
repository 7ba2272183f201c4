// Which writes bring the ingresses of a cluster to the desired ones, whatever it has.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { ObservedIngress } from '../../../shared/routing/cluster-ingresses.ts'
import type { ManagedIngress } from '../../../shared/routing/render/kubernetes/managed-ingresses.ts'
import type { StoredManagedIngress } from './model.ts'
import { isRepair, isSameRecord, nameOf, planChanges, recordIngress } from './rules.ts'

const target = (sha256: string) => ({ object: {} as never, backend: 'x:1', sha256 })
const wanted = (service: string, sha256 = 'a'): ManagedIngress => ({
  ...{ name: `gateway-managed-${service}-rest`, service, priority: 100, paths: 2 },
  target: target(sha256),
})
const unroutable = (service: string): ManagedIngress => ({ ...wanted(service), target: { reason: 'outside' } })
const seen = (name: string, sha256 = 'a', isEnding = false): ObservedIngress => ({
  ...{ name, uid: `u-${name}`, resource_version: '7', sha256, isEnding },
})
const observe = (...all: ObservedIngress[]) => new Map(all.map((each) => [each.name, each]))
const plan = (desired: ManagedIngress[], ...all: ObservedIngress[]) =>
  planChanges(desired, observe(...all)).map((each) => `${each.change} ${nameOf(each)}`)

test('what is missing is created, what differs is patched, what is wanted no longer is removed, and the rest is left', () => {
  const cluster = [
    seen('gateway-managed-same-rest'),
    seen('gateway-managed-edited-rest', 'b'),
    seen('gateway-managed-gone-rest'),
    seen('gateway-managed-outside-rest'),
  ]
  expect(plan([wanted('same'), wanted('edited'), wanted('new'), unroutable('outside')], ...cluster)).toEqual([
    'patch gateway-managed-edited-rest',
    'create gateway-managed-new-rest',
    'remove gateway-managed-gone-rest',
    'remove gateway-managed-outside-rest',
  ])
})

test('one with another prefix is left alone, whatever its labels; one that ends is left to end', () => {
  expect(plan([], seen('consensus-service-rest'))).toEqual([])
  expect(plan([wanted('maps')], seen('gateway-managed-maps-rest', 'b', true))).toEqual([])
  expect(plan([], seen('gateway-managed-maps-rest', 'b', true))).toEqual([])
})

const names = fc.constantFrom('a', 'b', 'c', 'd')
const digests = fc.constantFrom('1', '2')

test('after the changes of a plan nothing is left to do, for any cluster', () => {
  const desired = fc.uniqueArray(fc.tuple(names, digests, fc.boolean()), { selector: ([name]) => name })
  const present = fc.uniqueArray(fc.tuple(names, digests), { selector: ([name]) => name })
  fc.assert(
    fc.property(desired, present, (some, others) => {
      const all = some.map(([name, sha256, isOutside]) => (isOutside ? unroutable(name) : wanted(name, sha256)))
      const cluster = observe(...others.map(([name, sha256]) => seen(`gateway-managed-${name}-rest`, sha256)))
      for (const each of planChanges(all, cluster))
        if (each.change === 'remove') cluster.delete(each.seen.name)
        else cluster.set(each.ingress.name, seen(each.ingress.name, each.target.sha256))
      expect(planChanges(all, cluster)).toEqual([])
      expect([...cluster.keys()].sort()).toEqual(
        all
          .filter(({ target: { ...found } }) => 'object' in found)
          .map(({ name }) => name)
          .sort(),
      )
    }),
  )
})

test('a repair is a write of what was written already', () => {
  const at = { tenant_id: 't', now: 5 }
  const written = recordIngress(wanted('maps', 'a'), { state: 'written' }, undefined, at)
  expect(written).toMatchObject({ state: 'written', backend: 'x:1', sha256: 'a', changed_ts: 5 })
  expect(isRepair(written, target('a'))).toBe(true)
  expect(isRepair(written, target('b'))).toBe(false)
  expect(isRepair(undefined, target('a'))).toBe(false)
  const refused = recordIngress(wanted('maps', 'a'), { state: 'conflict', reason: 'taken' }, written, at)
  expect(refused).toMatchObject({ state: 'conflict', reason: 'taken', sha256: 'a' })
  expect(isRepair(refused, target('a'))).toBe(false)
})

test('a record is the same whenever it was made', () => {
  const record = (change: Partial<StoredManagedIngress> = {}) => ({
    ...recordIngress(wanted('maps'), { state: 'written' }, undefined, { tenant_id: 't', now: 1 }),
    ...change,
  })
  expect(isSameRecord(record(), record({ changed_ts: 9 }))).toBe(true)
  expect(isSameRecord(record(), record({ priority: 200 }))).toBe(false)
  expect(isSameRecord(undefined, record())).toBe(false)
})
