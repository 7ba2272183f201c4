// Artifacts under random changes of many parties, with crashes at writes: no version is lost, and each change is recorded.
import { expect, test } from 'vitest'
import { runLifecycle } from './lifecycle-world.ts'
import { openGuideStore } from './open-guide-store.ts'
import { walkModel } from './walk-model.ts'

const modes = [
  { name: 'one after the other', parties: 1, failing: 0, rounds: 120 },
  { name: 'four at once', parties: 4, failing: 0, rounds: 40 },
  { name: 'one after the other, with crashes at writes', parties: 1, failing: 0.15, rounds: 150 },
  { name: 'four at once, with crashes at writes', parties: 4, failing: 0.15, rounds: 50 },
]

test.each(modes.flatMap((mode) => [1, 2, 3].map((seed) => ({ ...mode, seed }))))('$name, seed $seed', async (run) => {
  const { store, audit, end } = openGuideStore()
  try {
    const { counts } = await runLifecycle(store, run)
    expect(counts.done).toBeGreaterThan(run.rounds / 8)
    expect(counts.refused).toBeGreaterThan(0)
    expect(counts.crashed > 0).toBe(run.failing > 0)
    expect([await audit.verify(), await store.check()]).toEqual([undefined, []])
  } finally {
    await end()
  }
})

test.each([1, 2, 3])('random changes have the outcomes of a plain model, seed %i', async (seed) => {
  const { store, end } = openGuideStore()
  try {
    const { made, refused } = await walkModel(store, seed, 120)
    expect(Math.min(made, refused)).toBeGreaterThan(20)
  } finally {
    await end()
  }
})
