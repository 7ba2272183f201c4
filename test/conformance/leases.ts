// Everything that leases must keep, as data: each adapter is run against all of it.
import { expect } from 'vitest'
import type { Leases } from '../../daemon/kernel/job/lease.ts'

export type LeaseFixture = {
  readonly leases: Leases
  /** Leases of another process over the same store. */
  readonly otherLeases: Leases
  /** Resolves when so much time has gone by for the store. */
  advance(ms: number): Promise<void>
}

export type LeaseRequirement = {
  readonly id: string
  readonly description: string
  readonly verify: (world: LeaseFixture) => Promise<void>
}

const life_ms = 3_000

const requirement = (id: string, description: string, verify: LeaseRequirement['verify']): LeaseRequirement => ({
  id: `lease/${id}`,
  description,
  verify,
})

async function takeLease(leases: Leases, key: string, life = life_ms) {
  const lease = await leases.take(key, life)
  if (!lease) throw new Error(`the lease ${key} is not free`)
  return lease
}

export const leaseRequirements: readonly LeaseRequirement[] = [
  requirement('exclusive', 'a lease has one holder, in this process or another', async ({ leases, otherLeases }) => {
    await takeLease(leases, 'fusion_run/run_1')
    expect(await leases.take('fusion_run/run_1', life_ms)).toBeUndefined()
    expect(await otherLeases.take('fusion_run/run_1', life_ms)).toBeUndefined()
    await takeLease(otherLeases, 'fusion_run/run_2')
  }),

  requirement('one-winner', 'of many that take a lease at once, one gets it', async ({ leases, otherLeases }) => {
    const takes = Array.from({ length: 40 }, (_, at) => (at % 2 ? leases : otherLeases).take('race', life_ms))
    expect((await Promise.all(takes)).filter(Boolean)).toHaveLength(1)
  }),

  requirement('expiry', 'an expired lease goes to one of many that take it at once', async (world) => {
    const { leases, otherLeases, advance } = world
    const former = await takeLease(leases, 'race')
    await advance(life_ms + 100)
    const takes = Array.from({ length: 40 }, (_, at) => (at % 2 ? leases : otherLeases).take('race', life_ms))
    const taken = (await Promise.all(takes)).filter((lease) => lease !== undefined)
    expect(taken).toHaveLength(1)
    expect(taken[0]?.holder).not.toBe(former.holder)
  }),

  requirement('renew', 'a renewed lease lives on from its renewal', async ({ leases, otherLeases, advance }) => {
    const lease = await takeLease(leases, 'long')
    await advance(life_ms - 1_000)
    expect(await leases.renew(lease, life_ms)).toBe(true)
    await advance(life_ms - 1_000)
    expect(await otherLeases.take('long', life_ms)).toBeUndefined()
    await advance(1_100)
    await takeLease(otherLeases, 'long')
  }),

  requirement('lost', 'a lost lease is neither renewed nor released', async ({ leases, otherLeases, advance }) => {
    const lost = await takeLease(leases, 'taken over')
    await advance(life_ms + 100)
    const next = await takeLease(otherLeases, 'taken over', 60_000)
    expect(await leases.renew(lost, life_ms)).toBe(false)
    await leases.release(lost)
    expect(await leases.take('taken over', life_ms)).toBeUndefined()
    expect(await otherLeases.renew(next, 60_000)).toBe(true)
  }),

  requirement('release', 'a released lease is free at once, and releasing it again harms nobody', async (world) => {
    const { leases, otherLeases } = world
    const lease = await takeLease(leases, 'free')
    await leases.release(lease)
    expect(await leases.renew(lease, life_ms)).toBe(false)
    const next = await takeLease(otherLeases, 'free', 60_000)
    await leases.release(lease)
    expect(await otherLeases.renew(next, 60_000)).toBe(true)
  }),

  requirement('keys', 'every character of a key counts', async ({ leases }) => {
    for (const key of ['a/b', 'a/B', 'a b', 'ä', 'a\u0308', '*', 'a/*']) await takeLease(leases, key)
  }),
]
