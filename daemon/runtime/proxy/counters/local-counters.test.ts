// Ever new sources fill the counters and turn nobody away: what finds no room is counted together.
import { expect, test } from 'vitest'
import { localCounters } from './local-counters.ts'

test('sources beyond what can be held are counted in common, never not at all, and by themselves once there is room', async () => {
  let now = 0
  const counters = localCounters(() => now, 'salt')
  const count = async (key: string) => (await counters.increment(key, 1, 60_000)).count
  expect(await count('known')).toBe(1)
  for (let at = 0; at < 100_000; at += 1) await counters.increment(`filling-${at}`, 1, 60_000)
  expect(await count('known')).toBe(2)
  expect([await count('late'), await count('late')]).toEqual([1, 2])
  // 65,536 counts for them all: one more has company.
  let most = 0
  for (let at = 0; at < 65_536; at += 1) most = Math.max(most, await count(`later-${at}`))
  expect(most).toBeGreaterThan(1)
  expect(most).toBeLessThan(30)
  now = 61_000
  expect([await count('late'), await count('known')]).toEqual([1, 1])
})
