// The machine loses power: the journal has what it said, and of the files, which no carrier waited for, any part may be gone.
import * as fs from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Verdict } from '../../../daemon/kernel/transport.ts'
import { drop, forge } from './forged.ts'
import {
  carry,
  incomingOf,
  quarantineOf,
  restart,
  sendFromAlpha,
  startReceiving,
  twoSites,
  type World,
} from './two-sites.ts'

const channel = 'filedrop/alpha/bravo'
let world: World
let isDown: boolean
beforeEach(async () => {
  world = await twoSites()
  isDown = true
  await startReceiving(world.alpha)
  await startReceiving(world.bravo, answer)
})
afterEach(() => world.dispose())

const answer = (): Verdict => (isDown ? { verdict: 'later', detail: 'not now' } : { verdict: 'applied' })
const folders = () => incomingOf(world.bravo, 'alpha')
const scan = () => world.bravo.transport.rescan()
const inStatus = async () => (await world.bravo.transport.status()).find(({ direction }) => direction === 'in')
const audited = (action: string) => world.bravo.audit.list({ action, limit: 9 })
const stateOf = async (seq: number) => (await world.bravo.journal.entry(channel, 1, seq))?.state
const taken = () => world.bravo.received.map(({ statement: { seq } }) => seq)
const reasons = () => quarantineOf(world.bravo, 'alpha').map(({ reason }) => reason)
const left = () => [...fs.readdirSync(folders().work), ...fs.readdirSync(folders().fresh)]

/** Three messages, taken in and not applied; then the power fails, and the receivers are there again. */
async function powerCut(take: () => void): Promise<void> {
  await sendFromAlpha(world, 3)
  carry(world.alpha, world.bravo)
  await scan()
  await world.bravo.transport.stop()
  take()
  isDown = false
  await restart(world.bravo, answer)
}

const filesIn = (folder: string, pattern: RegExp) =>
  fs
    .readdirSync(folder)
    .filter((file) => pattern.test(file))
    .map((file) => join(folder, file))
const remove = (pattern: RegExp) => {
  for (const path of filesIn(folders().work, pattern)) fs.rmSync(path)
}
const empty = (pattern: RegExp, to = folders().work) => {
  for (const path of filesIn(folders().work, pattern)) {
    fs.rmSync(path)
    fs.writeFileSync(join(to, path.slice(folders().work.length + 1)), '')
  }
}

/** As a person does who carries the receipt back. */
async function askAgain(): Promise<void> {
  // What alpha's carrier has taken is known to it with the next look.
  await world.alpha.transport.rescan()
  const receipt = await world.bravo.transport.oneWay.gapReceipt('alpha')
  await world.alpha.transport.oneWay.resendFor(receipt)
  carry(world.alpha, world.bravo)
  await scan()
}

test('what is gone is missing again, is told once, and comes again by a receipt: applied once, no duplicate', async () => {
  await powerCut(() => remove(/-0+2\./))
  expect(taken()).toEqual([1, 3])
  expect(await inStatus()).toMatchObject({ next_seq: 2, highest_seq: 3, gaps: 1 })
  expect(await world.bravo.journal.gaps(channel, 1, 9)).toEqual([{ first: 2, last: 2 }])
  await restart(world.bravo, answer)
  const told = await audited('filedrop.messages.lost')
  expect(told.map(({ event }) => event?.detail)).toEqual([{ epoch: 1, messages: 1, runs: [{ first: 2, last: 2 }] }])
  await askAgain()
  expect(taken()).toEqual([1, 3, 2])
  expect(await inStatus()).toMatchObject({ next_seq: 4, gaps: 0, received: 3, duplicates: 0, quarantined: 0 })
  expect(left()).toEqual([])
})

test('all of them, the highest too', async () => {
  await powerCut(() => remove(/./))
  expect(await inStatus()).toMatchObject({ next_seq: 1, highest_seq: 3, gaps: 3 })
  await askAgain()
  expect(taken()).toEqual([1, 2, 3])
  expect(await inStatus()).toMatchObject({ next_seq: 4, gaps: 0, duplicates: 0 })
})

test('its number and digest stay known: another message under it freezes the channel', async () => {
  await powerCut(() => remove(/-0+2\./))
  drop(world, await forge(world, { seq: 2 }))
  await scan()
  expect(reasons()).toEqual(['EQUIVOCATION'])
  expect(await inStatus()).toMatchObject({ state: 'frozen', gaps: 1 })
})

test('what must come in order waits for it', async () => {
  await powerCut(() => remove(/-0+2\./))
  await sendFromAlpha(world, 1, { kind: 'signal' })
  carry(world.alpha, world.bravo)
  await scan()
  expect(taken()).toEqual([1, 3])
  await askAgain()
  expect(taken()).toEqual([1, 3, 2, 4])
})

test('it was fresh when it first came, and is so still', async () => {
  await powerCut(() => remove(/-0+2\./))
  await world.alpha.transport.rescan()
  const sent = join(world.dir, 'kept')
  fs.cpSync(join(world.alpha.root, 'bravo', 'out', 'sent'), sent, { recursive: true })
  world.clock.ms += 20 * 86_400_000
  for (const path of filesIn(sent, /-0+2\./)) {
    fs.copyFileSync(path, join(folders().fresh, path.slice(sent.length + 1)))
  }
  await scan()
  expect(taken()).toEqual([1, 3, 2])
})

describe.each(['env', 'body'])('the %s alone is left in work', (part) => {
  const other = part === 'env' ? 'body' : 'env'
  beforeEach(() => powerCut(() => remove(new RegExp(`-0+2\\.${other}\\.`))))

  test('a new copy takes its place, whatever it holds', async () => {
    expect(await inStatus()).toMatchObject({ gaps: 1 })
    for (const path of filesIn(folders().work, /./)) fs.truncateSync(path, 3)
    await askAgain()
    expect(taken()).toEqual([1, 3, 2])
    expect(left()).toEqual([])
    expect(reasons()).toEqual([])
  })

  test('without one it ends after a day, and the number is still missing', async () => {
    world.clock.ms += 86_400_000
    await scan()
    expect(reasons()).toEqual(['TRUNCATED'])
    expect(left()).toEqual([])
    expect(await inStatus()).toMatchObject({ gaps: 1 })
    await askAgain()
    expect(taken().slice(0, 3)).toEqual([1, 3, 2])
  })
})

test.each(['env', 'body', 'env|body'])(
  '%s empty in work: put away with a reason, and asked for again',
  async (part) => {
    await powerCut(() => empty(new RegExp(`-0+2\\.(${part})\\.`)))
    await scan()
    expect(reasons()).toHaveLength(1)
    expect(await inStatus()).toMatchObject({ gaps: 1 })
    await askAgain()
    expect(taken()).toEqual([1, 3, 2])
    expect(await inStatus()).toMatchObject({ state: 'open', gaps: 0 })
  },
)

test('empty in new, as if it had never been moved: asked for again before its day is over', async () => {
  await powerCut(() => empty(/-0+2\./, folders().fresh))
  await scan()
  expect(await inStatus()).toMatchObject({ gaps: 1 })
  await askAgain()
  expect(taken()).toEqual([1, 3, 2])
  expect(left()).toEqual([])
})

test('back in new, as if it had never been moved: goes on, and is not missing', async () => {
  await powerCut(() => {
    for (const path of filesIn(folders().work, /-0+2\./)) {
      fs.renameSync(path, join(folders().fresh, path.slice(folders().work.length + 1)))
    }
  })
  expect(taken()).toEqual([1, 2, 3])
  expect(await audited('filedrop.messages.lost')).toEqual([])
})

test('a half of what was applied is ended by a second copy, and nothing is applied twice', async () => {
  await powerCut(() => undefined)
  for (const path of filesIn(folders().done, /-0+2\.env\./)) fs.rmSync(path)
  await world.alpha.transport.rescan()
  await world.alpha.transport.oneWay.resend({ peer: 'bravo', first: 2, last: 2 })
  carry(world.alpha, world.bravo)
  await scan()
  expect(filesIn(folders().done, /-0+2\./)).toHaveLength(2)
  expect(taken()).toEqual([1, 2, 3])
  expect(left()).toEqual([])
})

describe('the audit chain has the reason, though files and reason are gone', () => {
  const lastReason = async () => (await audited('filedrop.message.quarantined')).at(-1)?.event?.detail

  test('of a message that its receiver refused', async () => {
    await restart(world.bravo, () => ({ verdict: 'refused', code: 'session_closed', detail: 'the session is over' }))
    await sendFromAlpha(world, 1)
    carry(world.alpha, world.bravo)
    await scan()
    for (const path of filesIn(folders().quarantine, /./)) fs.rmSync(path)
    expect(await lastReason()).toMatchObject({ reason: 'REFUSED', code: 'session_closed', epoch: 1, seq: 1 })
    expect(await stateOf(1)).toBe('refused')
  })

  test.each(['before', 'after'])(
    'of one that is POISON, whichever way a death falls %s its end is entered',
    async (when) => {
      const forged = await forge(world)
      drop(world, forged)
      await scan()
      // A start that found it in work and died, twice.
      for (let i = 0; i < 2; i++) await world.bravo.journal.failed(channel, 1, 1)
      const journal = new Proxy(world.bravo.journal, {
        get(target, name, self) {
          const original = Reflect.get(target, name, self) as (...given: unknown[]) => Promise<unknown>
          if (name !== 'settle') return original
          return async (...given: unknown[]) => {
            if (when === 'after') await original(...given)
            throw new Error('the process died here')
          }
        },
      })
      isDown = false
      await restart(world.bravo, answer, {}, { journal })
      for (const path of filesIn(folders().work, /./)) fs.rmSync(path)
      // What has ended has its reason; what has not is missing.
      const isEnded = (await stateOf(1)) === 'quarantined'
      expect(isEnded).toBe(when === 'after')
      const told = (await audited('filedrop.message.quarantined')).map(({ event }) => event?.detail)
      expect(told.some((detail) => detail?.reason === 'POISON')).toBe(isEnded)
      await restart(world.bravo, answer)
      expect(await inStatus()).toMatchObject({ gaps: isEnded ? 0 : 1 })
    },
  )
})
