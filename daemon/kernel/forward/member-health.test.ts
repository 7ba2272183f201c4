// Selection of a member by its health and load, with probes, ejections and recovery in simulated time.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  chooseMember,
  findMemberState,
  healthyMember,
  type MemberHealth,
  type PoolMember,
  recordOutcome,
  recordProbe,
} from './member-health.ts'

const limits = { failures: 3, ejection_ms: 1_000, max_ejection_ms: 5_000 }
const tried: ReadonlySet<PoolMember> = new Set()

function fail(health: MemberHealth, times: number, now: number): MemberHealth {
  let next = health
  for (let at = 0; at < times; at++) next = recordOutcome(next, false, now, limits)
  return next
}

const choose = (members: readonly { health?: MemberHealth; active?: number }[], more = {}) =>
  chooseMember(
    members.map(({ health = healthyMember, active = 0 }) => ({ health, active })),
    { now: 0, turn: 0, limits, tried, ...more },
  )

describe('selection', () => {
  test('takes the member with the fewest active requests, and members of equal load in turn', () => {
    expect(choose([{ active: 2 }, { active: 1 }, { active: 3 }])).toBe(1)
    expect([0, 1, 2, 3].map((turn) => choose([{}, {}, {}], { turn }))).toEqual([0, 1, 2, 0])
  })

  test('skips members that are ejected, down or tried', () => {
    const ejected = fail(healthyMember, 3, 0)
    const down = { ...healthyMember, failed_probes: 3 }
    expect(choose([{ health: ejected }, { health: down }, { active: 50 }])).toBe(2)
    const members = [
      { health: healthyMember, active: 0 },
      { health: healthyMember, active: 1 },
    ]
    expect(chooseMember(members, { now: 0, turn: 0, limits, tried: new Set(members.slice(0, 1)) })).toBe(1)
  })

  test('uses ejected members when no other is left, and never one that is down', () => {
    const ejected = fail(healthyMember, 3, 0)
    const down = { ...healthyMember, failed_probes: 3 }
    expect(choose([{ health: down }, { health: ejected, active: 9 }])).toBe(1)
    expect(choose([{ health: down }, { health: down }])).toBeUndefined()
    expect(choose([])).toBeUndefined()
  })

  test('tries a member after its ejection with one request at a time', () => {
    const health = fail(healthyMember, 3, 0)
    const back = { now: 1_000, turn: 0 }
    expect(choose([{ health }, { active: 5 }], back)).toBe(0)
    expect(choose([{ health, active: 1 }, { active: 5 }], back)).toBe(1)
  })
})

describe('an ejection', () => {
  test('follows the third failure in a row, and a success starts the count again', () => {
    expect(findMemberState(fail(healthyMember, 2, 0), 0, limits)).toBe('up')
    expect(findMemberState(fail(healthyMember, 3, 0), 0, limits)).toBe('ejected')
    const recovered = recordOutcome(fail(healthyMember, 2, 0), true, 0, limits)
    expect(findMemberState(fail(recovered, 2, 0), 0, limits)).toBe('up')
  })

  test('lasts twice as long with each failure after it, up to the maximum', () => {
    let health = fail(healthyMember, 3, 0)
    const lengths: number[] = []
    for (let round = 0; round < 5; round++) {
      const now = health.ejected_until
      expect(findMemberState(health, now, limits)).toBe('recovering')
      health = fail(health, 1, now)
      lengths.push(health.ejected_until - now)
    }
    expect(lengths).toEqual([2_000, 4_000, 5_000, 5_000, 5_000])
    expect(findMemberState(recordOutcome(health, true, 0, limits), 0, limits)).toBe('up')
  })

  test('is not extended by requests that were under way', () => {
    const ejected = fail(healthyMember, 3, 0)
    expect(fail(ejected, 10, 500).ejected_until).toBe(ejected.ejected_until)
  })
})

test('three failed probes take a member down, one good probe brings it up, and requests do neither', () => {
  let health = healthyMember
  for (let at = 0; at < 3; at++) health = recordProbe(health, false)
  expect(findMemberState(health, 0, limits)).toBe('down')
  expect(findMemberState(recordOutcome(health, true, 0, limits), 0, limits)).toBe('down')
  expect(findMemberState(recordProbe(health, true), 0, limits)).toBe('up')
  expect(findMemberState(recordProbe(fail(healthyMember, 3, 0), true), 0, limits)).toBe('up')
})

const outcomes = fc.array(fc.record({ isOk: fc.boolean(), after_ms: fc.nat(3_000) }), { maxLength: 40 })

test('without a member that is down one is always chosen, and one that is up where there is any', () => {
  const anyHistories = fc.array(outcomes, { minLength: 1, maxLength: 4 })
  fc.assert(
    fc.property(anyHistories, fc.nat(), (histories, turn) => {
      const healths = histories.map(replay)
      const members = healths.map((health) => ({ health }))
      const chosen = choose(members, { now: 3_000, turn })
      const states = healths.map((health) => findMemberState(health, 3_000, limits))
      const wanted = states.includes('up') || states.includes('recovering') ? ['up', 'recovering'] : ['ejected']
      expect(wanted).toContain(states[chosen ?? -1])
    }),
  )
})

function replay(history: readonly { readonly isOk: boolean; readonly after_ms: number }[]): MemberHealth {
  let now = 0
  let health = healthyMember
  for (const { isOk, after_ms } of history) {
    now += after_ms
    health = recordOutcome(health, isOk, now, limits)
  }
  return health
}
