// The machine loses power: the journal has what it said, and of the files, which no carrier waited for, any part may be gone.
import * as fs from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { DeliveryVerdict } from '../../../daemon/kernel/messaging/transport.ts'
import {
  carryFiles,
  createFiledropSites,
  type FiledropSites,
  listChannelFolders,
  listQuarantineReasons,
  restartSite,
  sendFromAlpha,
  startReceiving,
} from './filedrop-sites.ts'
import { dropMessage, forgeMessage } from './forge-message.ts'

const channel = 'filedrop/alpha/bravo'
let world: FiledropSites
let isDown: boolean
beforeEach(async () => {
  world = await createFiledropSites()
  isDown = true
  await startReceiving(world.alpha)
  await startReceiving(world.bravo, buildVerdict)
})
afterEach(() => world.dispose())

const buildVerdict = (): DeliveryVerdict => (isDown ? { verdict: 'later', detail: 'not now' } : { verdict: 'applied' })
const readFolders = () => listChannelFolders(world.bravo, 'alpha')
const scanBravo = () => world.bravo.transport.rescan()
const readInStatus = async () => (await world.bravo.transport.status()).find(({ direction }) => direction === 'in')
const listAuditRecords = (action: string) => world.bravo.audit.list({ action, limit: 9 })
const readState = async (seq: number) => (await world.bravo.journal.entry(channel, 1, seq))?.state
const listTaken = () => world.bravo.received.map(({ statement: { seq } }) => seq)
const listReasons = () => listQuarantineReasons(world.bravo, 'alpha').map(({ reason }) => reason)
const listLeft = () => [...fs.readdirSync(readFolders().work), ...fs.readdirSync(readFolders().fresh)]

/** Three messages, taken in and not applied; then the power fails, and the receivers are there again. */
async function cutPower(take: () => void): Promise<void> {
  await sendFromAlpha(world, 3)
  carryFiles(world.alpha, world.bravo)
  await scanBravo()
  await world.bravo.transport.stop()
  take()
  isDown = false
  await restartSite(world.bravo, buildVerdict)
}

const listMatching = (folder: string, pattern: RegExp) =>
  fs
    .readdirSync(folder)
    .filter((file) => pattern.test(file))
    .map((file) => join(folder, file))
const removeFiles = (pattern: RegExp) => {
  for (const path of listMatching(readFolders().work, pattern)) fs.rmSync(path)
}
const emptyFiles = (pattern: RegExp, to = readFolders().work) => {
  for (const path of listMatching(readFolders().work, pattern)) {
    fs.rmSync(path)
    fs.writeFileSync(join(to, path.slice(readFolders().work.length + 1)), '')
  }
}

/** As a person does who carries the receipt back. */
async function requestResend(): Promise<void> {
  // What alpha's carrier has taken is known to it with the next look.
  await world.alpha.transport.rescan()
  const receipt = await world.bravo.transport.oneWay.gapReceipt('alpha')
  await world.alpha.transport.oneWay.resendFor(receipt)
  carryFiles(world.alpha, world.bravo)
  await scanBravo()
}

test('what is gone is missing again, is told once, and comes again by a receipt: applied once, no duplicate', async () => {
  await cutPower(() => removeFiles(/-0+2\./))
  expect(listTaken()).toEqual([1, 3])
  expect(await readInStatus()).toMatchObject({ next_seq: 2, highest_seq: 3, gaps: 1 })
  expect(await world.bravo.journal.gaps(channel, 1, 9)).toEqual([{ first: 2, last: 2 }])
  await restartSite(world.bravo, buildVerdict)
  const told = await listAuditRecords('filedrop.messages.lost')
  expect(told.map(({ event }) => event?.detail)).toEqual([{ epoch: 1, messages: 1, runs: [{ first: 2, last: 2 }] }])
  await requestResend()
  expect(listTaken()).toEqual([1, 3, 2])
  expect(await readInStatus()).toMatchObject({ next_seq: 4, gaps: 0, received: 3, duplicates: 0, quarantined: 0 })
  expect(listLeft()).toEqual([])
})

test('all of them, the highest too', async () => {
  await cutPower(() => removeFiles(/./))
  expect(await readInStatus()).toMatchObject({ next_seq: 1, highest_seq: 3, gaps: 3 })
  await requestResend()
  expect(listTaken()).toEqual([1, 2, 3])
  expect(await readInStatus()).toMatchObject({ next_seq: 4, gaps: 0, duplicates: 0 })
})

test('its number and digest stay known: another message under it freezes the channel', async () => {
  await cutPower(() => removeFiles(/-0+2\./))
  dropMessage(world, await forgeMessage(world, { seq: 2 }))
  await scanBravo()
  expect(listReasons()).toEqual(['EQUIVOCATION'])
  expect(await readInStatus()).toMatchObject({ state: 'frozen', gaps: 1 })
})

test('what must come in order waits for it', async () => {
  await cutPower(() => removeFiles(/-0+2\./))
  await sendFromAlpha(world, 1, { kind: 'signal' })
  carryFiles(world.alpha, world.bravo)
  await scanBravo()
  expect(listTaken()).toEqual([1, 3])
  await requestResend()
  expect(listTaken()).toEqual([1, 3, 2, 4])
})

test('it was fresh when it first came, and is so still', async () => {
  await cutPower(() => removeFiles(/-0+2\./))
  await world.alpha.transport.rescan()
  const sent = join(world.dir, 'kept')
  fs.cpSync(join(world.alpha.root, 'bravo', 'out', 'sent'), sent, { recursive: true })
  world.clock.ms += 20 * 86_400_000
  for (const path of listMatching(sent, /-0+2\./)) {
    fs.copyFileSync(path, join(readFolders().fresh, path.slice(sent.length + 1)))
  }
  await scanBravo()
  expect(listTaken()).toEqual([1, 3, 2])
})

describe.each(['env', 'body'])('the %s alone is left in work', (part) => {
  const other = part === 'env' ? 'body' : 'env'
  beforeEach(() => cutPower(() => removeFiles(new RegExp(`-0+2\\.${other}\\.`))))

  test('a new copy takes its place, whatever it holds', async () => {
    expect(await readInStatus()).toMatchObject({ gaps: 1 })
    for (const path of listMatching(readFolders().work, /./)) fs.truncateSync(path, 3)
    await requestResend()
    expect(listTaken()).toEqual([1, 3, 2])
    expect(listLeft()).toEqual([])
    expect(listReasons()).toEqual([])
  })

  test('without one it ends after a day, and the number is still missing', async () => {
    world.clock.ms += 86_400_000
    await scanBravo()
    expect(listReasons()).toEqual(['TRUNCATED'])
    expect(listLeft()).toEqual([])
    expect(await readInStatus()).toMatchObject({ gaps: 1 })
    await requestResend()
    expect(listTaken().slice(0, 3)).toEqual([1, 3, 2])
  })
})

test.each(['env', 'body', 'env|body'])(
  '%s empty in work: put away with a reason, and asked for again',
  async (part) => {
    await cutPower(() => emptyFiles(new RegExp(`-0+2\\.(${part})\\.`)))
    await scanBravo()
    expect(listReasons()).toHaveLength(1)
    expect(await readInStatus()).toMatchObject({ gaps: 1 })
    await requestResend()
    expect(listTaken()).toEqual([1, 3, 2])
    expect(await readInStatus()).toMatchObject({ state: 'open', gaps: 0 })
  },
)

test('empty in new, as if it had never been moved: asked for again before its day is over', async () => {
  await cutPower(() => emptyFiles(/-0+2\./, readFolders().fresh))
  await scanBravo()
  expect(await readInStatus()).toMatchObject({ gaps: 1 })
  await requestResend()
  expect(listTaken()).toEqual([1, 3, 2])
  expect(listLeft()).toEqual([])
})

test('back in new, as if it had never been moved: goes on, and is not missing', async () => {
  await cutPower(() => {
    for (const path of listMatching(readFolders().work, /-0+2\./)) {
      fs.renameSync(path, join(readFolders().fresh, path.slice(readFolders().work.length + 1)))
    }
  })
  expect(listTaken()).toEqual([1, 2, 3])
  expect(await listAuditRecords('filedrop.messages.lost')).toEqual([])
})

test('a half of what was applied is ended by a second copy, and nothing is applied twice', async () => {
  await cutPower(() => undefined)
  for (const path of listMatching(readFolders().done, /-0+2\.env\./)) fs.rmSync(path)
  await world.alpha.transport.rescan()
  await world.alpha.transport.oneWay.resend({ peer: 'bravo', first: 2, last: 2 })
  carryFiles(world.alpha, world.bravo)
  await scanBravo()
  expect(listMatching(readFolders().done, /-0+2\./)).toHaveLength(2)
  expect(listTaken()).toEqual([1, 2, 3])
  expect(listLeft()).toEqual([])
})

describe('the audit chain has the reason, though files and reason are gone', () => {
  const lastReason = async () => (await listAuditRecords('filedrop.message.quarantined')).at(-1)?.event?.detail

  test('of a message that its receiver refused', async () => {
    await restartSite(world.bravo, () => ({
      verdict: 'refused',
      code: 'session_closed',
      detail: 'the session is over',
    }))
    await sendFromAlpha(world, 1)
    carryFiles(world.alpha, world.bravo)
    await scanBravo()
    for (const path of listMatching(readFolders().quarantine, /./)) fs.rmSync(path)
    expect(await lastReason()).toMatchObject({ reason: 'REFUSED', code: 'session_closed', epoch: 1, seq: 1 })
    expect(await readState(1)).toBe('refused')
  })

  test.each(['before', 'after'])(
    'of one that is POISON, whichever way a death falls %s its end is entered',
    async (when) => {
      const forged = await forgeMessage(world)
      dropMessage(world, forged)
      await scanBravo()
      // A start that found it in work and died, twice.
      for (let i = 0; i < 2; i++) await world.bravo.journal.countFailure(channel, 1, 1)
      const journal = new Proxy(world.bravo.journal, {
        get(target, name, self) {
          const original = Reflect.get(target, name, self) as (...given: unknown[]) => Promise<unknown>
          if (name !== 'recordOutcomes') return original
          return async (...given: unknown[]) => {
            if (when === 'after') await original(...given)
            throw new Error('the process died here')
          }
        },
      })
      isDown = false
      await restartSite(world.bravo, buildVerdict, {}, { journal })
      for (const path of listMatching(readFolders().work, /./)) fs.rmSync(path)
      // What has ended has its reason; what has not is missing.
      const isEnded = (await readState(1)) === 'quarantined'
      expect(isEnded).toBe(when === 'after')
      const told = (await listAuditRecords('filedrop.message.quarantined')).map(({ event }) => event?.detail)
      expect(told.some((detail) => detail?.reason === 'POISON')).toBe(isEnded)
      await restartSite(world.bravo, buildVerdict)
      expect(await readInStatus()).toMatchObject({ gaps: isEnded ? 0 : 1 })
    },
  )
})
