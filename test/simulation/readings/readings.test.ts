// Runs that read what is new of a growing source, under simulated time: the process dies between any two writes, runs begin at once
// and are stopped. Each row lands once.
import { expect, test } from 'vitest'
import { seededRandom } from '../../support/random/seeded-random.ts'
import { openReadingWorld } from './reading-world.ts'

const minute_ms = 60_000

/** Of two runs: claims, the cursor, tries, landings, logs and ends; and some beyond. */
const writes = Array.from({ length: 20 }, (_, at) => at + 1)

test.each(writes.flatMap((write) => (['before', 'after'] as const).map((phase) => [phase, write] as const)))(
  'killed %s write %i, each row of a series of two runs at once lands once, and each run succeeds',
  async (phase, write) => {
    let seen = 0
    const world = await openReadingWorld({ kill: (now) => now === phase && ++seen === write })
    world.start()
    for (let hour = 0; hour < 4; hour++) {
      world.grow(3)
      for (const name of ['schedule', 'manual']) await world.trigger(`${name}__${hour}`)
      await world.time.pass(10 * minute_ms)
      if (world.isDead()) world.start()
      await world.time.pass(50 * minute_ms)
    }
    expect(seen).toBeGreaterThan(write)
    expect(await world.listStates()).toEqual(Array.from({ length: 8 }, () => 'success'))
    expect(world.landed()).toEqual(world.rows())
    await world.end()
  },
)

test.each(Array.from({ length: 12 }, (_, number) => 6_100 + number))(
  'runs at once, stopped runs and deaths at any moment: history %i',
  async (seed) => {
    const chance = seededRandom(seed)
    const world = await openReadingWorld({
      kill: () => chance.happens(0.02),
      landsAfterAbort: () => chance.happens(0.5),
      takes_ms: () => chance.below(40_000),
    })
    world.start()
    for (let turn = 0; turn < 30; turn++) {
      world.grow(chance.below(4))
      if (chance.happens(0.7)) await world.trigger(`run__${turn}`)
      await world.time.pass(chance.below(minute_ms))
      if (chance.happens(0.3)) await world.stopSome(chance.below(3))
      if (chance.happens(0.1)) world.kill()
      await world.time.pass(chance.below(minute_ms))
      if (world.isDead()) world.start()
    }
    world.calm()
    if (world.isDead()) world.start()
    await world.time.pass(120 * minute_ms)
    world.grow(1)
    await world.trigger('run__last')
    await world.time.pass(120 * minute_ms)
    const states = await world.listStates()
    expect(states.every((state) => state === 'success' || state === 'failed')).toBe(true)
    expect(states).toContain('success')
    expect(world.landed()).toEqual(world.rows())
    await world.end()
  },
)
