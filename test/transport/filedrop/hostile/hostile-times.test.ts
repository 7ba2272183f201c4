// Carriers that are slow, and clocks that jump: incomplete messages wait, and a refusal by a wrong clock is undone by a right one.
import * as fs from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { formatFreshPath, listReasons } from '../../../support/filedrop/filedrop-readers.ts'
import { restartSite } from '../../../support/filedrop/filedrop-sites.ts'
import { filedropTest } from '../../../support/filedrop/filedrop-test.ts'
import { dropMessage, type ForgedMessage, forgeMessage } from '../../../support/filedrop/forge-message.ts'

const test = filedropTest.extend({ options: { receiving: ['bravo'] } })
let soundMessage: ForgedMessage
test.beforeEach(async ({ sites }) => {
  soundMessage = await forgeMessage(sites)
})

const day_ms = 86_400_000

describe.each([
  ['the body first', ['body', 'env']],
  ['the envelope first', ['env', 'body']],
] as const)('a copy that grows, %s', (_, order) => {
  test.for([1, 7, 250])(
    'by %i bytes at a time, is taken in when it is whole, and not before',
    async (step, { sites }) => {
      const texts = { env: soundMessage.envelope.trimEnd(), body: String(soundMessage.body) }
      for (const [at, part] of order.entries()) {
        const file = join(formatFreshPath(sites), `${soundMessage.stem}.${part}.json`)
        for (let length = 0; length < texts[part].length; length += step) {
          fs.appendFileSync(file, texts[part].slice(length, length + step))
          const isWhole = at === 1 && length + step >= texts[part].length
          // Every length is looked at near both ends, and some between.
          const isLookedAt = length < 5 || texts[part].length - length < 5 || length % 41 < step
          if (!isLookedAt && !isWhole) continue
          await sites.bravo.transport.rescan()
          expect([part, length, sites.bravo.received.length]).toEqual([part, length, isWhole ? 1 : 0])
        }
      }
      expect(listReasons(sites)).toEqual([])
    },
  )
})

describe('a clock that jumps', () => {
  const jumps = [
    ['ten years ahead', 3_650 * day_ms, 'EXPIRED'],
    ['ten years back', -3_650 * day_ms, 'FUTURE'],
  ] as const

  test.for(jumps)(
    '%s: what comes then is put away, and comes in when the clock is right',
    async ([_, ms, reason], { sites }) => {
      sites.clock.ms += ms
      dropMessage(sites, soundMessage)
      await sites.bravo.transport.rescan()
      expect([listReasons(sites), sites.bravo.received]).toEqual([[reason], []])
      sites.clock.ms -= ms
      await restartSite(sites.bravo)
      dropMessage(sites, soundMessage)
      await sites.bravo.transport.rescan()
      expect([listReasons(sites), sites.bravo.received.length]).toEqual([[reason], 1])
    },
  )

  test.for(jumps)('%s: what was in before stays in, and its copies are duplicates', async ([_, ms], { sites }) => {
    dropMessage(sites, soundMessage)
    await sites.bravo.transport.rescan()
    sites.clock.ms += ms
    for (let i = 0; i < 2; i++) {
      dropMessage(sites, soundMessage)
      await restartSite(sites.bravo)
    }
    expect([listReasons(sites), sites.bravo.received.length]).toEqual([[], 1])
    expect((await sites.bravo.transport.status()).find(({ direction }) => direction === 'in')).toMatchObject({
      ...{ state: 'open', received: 1, duplicates: 2, gaps: 0 },
    })
  })

  test.for(jumps)('%s does not matter where sequence alone decides', async ([_, ms], { sites }) => {
    await restartSite(sites.bravo, undefined, { trusted_clock: false })
    sites.clock.ms += ms
    dropMessage(sites, soundMessage)
    await sites.bravo.transport.rescan()
    expect([listReasons(sites), sites.bravo.received.length]).toEqual([[], 1])
  })

  test('to and fro, while half of a message waits: its other half is still waited for', async ({ sites }) => {
    const body = join(formatFreshPath(sites), `${soundMessage.stem}.body.json`)
    fs.writeFileSync(body, soundMessage.body)
    for (const ms of [-3_650 * day_ms, 3_650 * day_ms, -day_ms, day_ms]) {
      await sites.bravo.transport.rescan()
      sites.clock.ms += ms
    }
    expect(fs.existsSync(body)).toBe(true)
    dropMessage(sites, soundMessage)
    await sites.bravo.transport.rescan()
    expect([listReasons(sites), sites.bravo.received.length]).toEqual([[], 1])
  })

  test('ahead, while half of a message waits: it is put away whole, and may come again', async ({ sites }) => {
    fs.writeFileSync(join(formatFreshPath(sites), `${soundMessage.stem}.body.json`), soundMessage.body)
    await sites.bravo.transport.rescan()
    sites.clock.ms += 3_650 * day_ms
    await sites.bravo.transport.rescan()
    sites.clock.ms -= 3_650 * day_ms
    expect(listReasons(sites)).toEqual(['TRUNCATED'])
    dropMessage(sites, soundMessage)
    await sites.bravo.transport.rescan()
    expect(sites.bravo.received).toHaveLength(1)
  })
})
