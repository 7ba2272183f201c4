// However parties that accept a set race and crash, each of its artifacts becomes active once, and the set ends.
import { expect, test } from 'vitest'
import { openGuideStore } from './open-guide-store.ts'
import { raceAcceptance } from './set-acceptance.ts'

test('two parties that crash at writes, and three that race, make each artifact active once', async () => {
  const { store, audit, end } = openGuideStore()
  try {
    expect(await raceAcceptance(store, 12)).toEqual({
      status: 'accepted',
      artifacts: Array.from({ length: 12 }, () => 'active 2 '),
      outcomes: Array.from({ length: 12 }, () => 'active'),
    })
    expect([await audit.verify(), await store.check()]).toEqual([undefined, []])
  } finally {
    await end()
  }
})
