// Carriers that are slow, and clocks that jump: what is not whole waits, and what a wrong clock refused comes in by a right one.
import * as fs from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  createFiledropSites,
  type FiledropSites,
  listChannelFolders,
  listQuarantineReasons,
  restartSite,
  startReceiving,
} from './filedrop-sites.ts'
import { dropMessage, type ForgedMessage, forgeMessage } from './forge-message.ts'

let world: FiledropSites
let soundMessage: ForgedMessage
beforeEach(async () => {
  world = await createFiledropSites()
  await startReceiving(world.bravo)
  soundMessage = await forgeMessage(world)
})
afterEach(() => world.dispose())

const formatFreshPath = () => listChannelFolders(world.bravo, 'alpha').fresh
const listReasons = () => listQuarantineReasons(world.bravo, 'alpha').map(({ reason }) => reason)
const day_ms = 86_400_000

describe.each([
  ['the body first', ['body', 'env']],
  ['the envelope first', ['env', 'body']],
] as const)('a copy that grows, %s', (_, order) => {
  test.each([1, 7, 250])('by %i bytes at a time, is taken in when it is whole, and not before', async (step) => {
    const texts = { env: soundMessage.envelope.trimEnd(), body: String(soundMessage.body) }
    for (const [at, part] of order.entries()) {
      const file = join(formatFreshPath(), `${soundMessage.stem}.${part}.json`)
      for (let length = 0; length < texts[part].length; length += step) {
        fs.appendFileSync(file, texts[part].slice(length, length + step))
        const isWhole = at === 1 && length + step >= texts[part].length
        // Every length is looked at near both ends, and some between.
        const isLookedAt = length < 5 || texts[part].length - length < 5 || length % 41 < step
        if (!isLookedAt && !isWhole) continue
        await world.bravo.transport.rescan()
        expect([part, length, world.bravo.received.length]).toEqual([part, length, isWhole ? 1 : 0])
      }
    }
    expect(listReasons()).toEqual([])
  })
})

describe('a clock that jumps', () => {
  const jumps = [
    ['ten years ahead', 3_650 * day_ms, 'EXPIRED'],
    ['ten years back', -3_650 * day_ms, 'FUTURE'],
  ] as const

  test.each(jumps)('%s: what comes then is put away, and comes in when the clock is right', async (_, ms, reason) => {
    world.clock.ms += ms
    dropMessage(world, soundMessage)
    await world.bravo.transport.rescan()
    expect([listReasons(), world.bravo.received]).toEqual([[reason], []])
    world.clock.ms -= ms
    await restartSite(world.bravo)
    dropMessage(world, soundMessage)
    await world.bravo.transport.rescan()
    expect([listReasons(), world.bravo.received.length]).toEqual([[reason], 1])
  })

  test.each(jumps)('%s: what was in before stays in, and its copies are duplicates', async (_, ms) => {
    dropMessage(world, soundMessage)
    await world.bravo.transport.rescan()
    world.clock.ms += ms
    for (let i = 0; i < 2; i++) {
      dropMessage(world, soundMessage)
      await restartSite(world.bravo)
    }
    expect([listReasons(), world.bravo.received.length]).toEqual([[], 1])
    expect((await world.bravo.transport.status()).find(({ direction }) => direction === 'in')).toMatchObject({
      ...{ state: 'open', received: 1, duplicates: 2, gaps: 0 },
    })
  })

  test.each(jumps)('%s is no matter where sequence alone decides', async (_, ms) => {
    await restartSite(world.bravo, undefined, { trusted_clock: false })
    world.clock.ms += ms
    dropMessage(world, soundMessage)
    await world.bravo.transport.rescan()
    expect([listReasons(), world.bravo.received.length]).toEqual([[], 1])
  })

  test('to and fro, while half of a message waits: its other half is still waited for', async () => {
    const body = join(formatFreshPath(), `${soundMessage.stem}.body.json`)
    fs.writeFileSync(body, soundMessage.body)
    for (const ms of [-3_650 * day_ms, 3_650 * day_ms, -day_ms, day_ms]) {
      await world.bravo.transport.rescan()
      world.clock.ms += ms
    }
    expect(fs.existsSync(body)).toBe(true)
    dropMessage(world, soundMessage)
    await world.bravo.transport.rescan()
    expect([listReasons(), world.bravo.received.length]).toEqual([[], 1])
  })

  test('ahead, while half of a message waits: it is put away whole, and may come again', async () => {
    fs.writeFileSync(join(formatFreshPath(), `${soundMessage.stem}.body.json`), soundMessage.body)
    await world.bravo.transport.rescan()
    world.clock.ms += 3_650 * day_ms
    await world.bravo.transport.rescan()
    world.clock.ms -= 3_650 * day_ms
    expect(listReasons()).toEqual(['TRUNCATED'])
    dropMessage(world, soundMessage)
    await world.bravo.transport.rescan()
    expect(world.bravo.received).toHaveLength(1)
  })
})
