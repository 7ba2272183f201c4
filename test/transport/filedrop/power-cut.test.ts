// The machine loses power: the journal keeps its acknowledged entries, and any part of the unsynced files may be gone.
import * as fs from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import type { DeliveryVerdict } from '../../../daemon/kernel/messaging/transport.ts'
import {
  channel,
  listAuditRecords,
  listReasons,
  listReceivedNumbers,
  readFolders,
  readInStatus,
  scanBravo,
} from '../../support/filedrop/filedrop-readers.ts'
import {
  carryFiles,
  type FiledropSites,
  restartSite,
  sendFromAlpha,
  startReceiving,
} from '../../support/filedrop/filedrop-sites.ts'
import { filedropTest } from '../../support/filedrop/filedrop-test.ts'
import { dropMessage, forgeMessage } from '../../support/filedrop/forge-message.ts'

const test = filedropTest.extend({ options: { receiving: ['alpha'] } })
let isDown: boolean
test.beforeEach(async ({ sites }) => {
  isDown = true
  await startReceiving(sites.bravo, buildVerdict)
})

const buildVerdict = (): DeliveryVerdict => (isDown ? { verdict: 'later', detail: 'not now' } : { verdict: 'applied' })
const readState = async (sites: FiledropSites, seq: number) => (await sites.bravo.journal.entry(channel, 1, seq))?.state
const listLeft = (sites: FiledropSites) => [
  ...fs.readdirSync(readFolders(sites).work),
  ...fs.readdirSync(readFolders(sites).fresh),
]

/** Three messages, taken in and not applied; then the power fails, and the receivers are there again. */
async function cutPower(sites: FiledropSites, take: () => void): Promise<void> {
  await sendFromAlpha(sites, 3)
  carryFiles(sites.alpha, sites.bravo)
  await scanBravo(sites)
  await sites.bravo.transport.stop()
  take()
  isDown = false
  await restartSite(sites.bravo, buildVerdict)
}

const listMatching = (folder: string, pattern: RegExp) =>
  fs
    .readdirSync(folder)
    .filter((file) => pattern.test(file))
    .map((file) => join(folder, file))
const removeFiles = (sites: FiledropSites, pattern: RegExp) => {
  for (const path of listMatching(readFolders(sites).work, pattern)) fs.rmSync(path)
}
const emptyFiles = (sites: FiledropSites, pattern: RegExp, to = readFolders(sites).work) => {
  for (const path of listMatching(readFolders(sites).work, pattern)) {
    fs.rmSync(path)
    fs.writeFileSync(join(to, path.slice(readFolders(sites).work.length + 1)), '')
  }
}

/** As a person does who carries the receipt back. */
async function requestResend(sites: FiledropSites): Promise<void> {
  // A message taken by alpha's carrier is noticed with the next look.
  await sites.alpha.transport.rescan()
  const receipt = await sites.bravo.transport.oneWay.gapReceipt('alpha')
  await sites.alpha.transport.oneWay.resendFor(receipt)
  carryFiles(sites.alpha, sites.bravo)
  await scanBravo(sites)
}

test('a lost message is missing again, reported once, and arrives again by a receipt: applied once, no duplicate', async ({
  sites,
}) => {
  await cutPower(sites, () => removeFiles(sites, /-0+2\./))
  expect(listReceivedNumbers(sites)).toEqual([1, 3])
  expect(await readInStatus(sites)).toMatchObject({ next_seq: 2, highest_seq: 3, gaps: 1 })
  expect(await sites.bravo.journal.gaps(channel, 1, 9)).toEqual([{ first: 2, last: 2 }])
  await restartSite(sites.bravo, buildVerdict)
  const records = await listAuditRecords(sites, 'filedrop.messages.lost')
  expect(records.map(({ event }) => event?.detail)).toEqual([{ epoch: 1, messages: 1, runs: [{ first: 2, last: 2 }] }])
  await requestResend(sites)
  expect(listReceivedNumbers(sites)).toEqual([1, 3, 2])
  expect(await readInStatus(sites)).toMatchObject({ next_seq: 4, gaps: 0, received: 3, duplicates: 0, quarantined: 0 })
  expect(listLeft(sites)).toEqual([])
})

test('all of them, the highest too', async ({ sites }) => {
  await cutPower(sites, () => removeFiles(sites, /./))
  expect(await readInStatus(sites)).toMatchObject({ next_seq: 1, highest_seq: 3, gaps: 3 })
  await requestResend(sites)
  expect(listReceivedNumbers(sites)).toEqual([1, 2, 3])
  expect(await readInStatus(sites)).toMatchObject({ next_seq: 4, gaps: 0, duplicates: 0 })
})

test('its number and digest stay known: another message under it freezes the channel', async ({ sites }) => {
  await cutPower(sites, () => removeFiles(sites, /-0+2\./))
  dropMessage(sites, await forgeMessage(sites, { seq: 2 }))
  await scanBravo(sites)
  expect(listReasons(sites)).toEqual(['EQUIVOCATION'])
  expect(await readInStatus(sites)).toMatchObject({ state: 'frozen', gaps: 1 })
})

test('an ordered message waits for it', async ({ sites }) => {
  await cutPower(sites, () => removeFiles(sites, /-0+2\./))
  await sendFromAlpha(sites, 1, { kind: 'signal' })
  carryFiles(sites.alpha, sites.bravo)
  await scanBravo(sites)
  expect(listReceivedNumbers(sites)).toEqual([1, 3])
  await requestResend(sites)
  expect(listReceivedNumbers(sites)).toEqual([1, 3, 2, 4])
})

test('it was fresh when it first came, and is so still', async ({ sites }) => {
  await cutPower(sites, () => removeFiles(sites, /-0+2\./))
  await sites.alpha.transport.rescan()
  const sent = join(sites.dir, 'kept')
  fs.cpSync(join(sites.alpha.root, 'bravo', 'out', 'sent'), sent, { recursive: true })
  sites.clock.ms += 20 * 86_400_000
  for (const path of listMatching(sent, /-0+2\./)) {
    fs.copyFileSync(path, join(readFolders(sites).fresh, path.slice(sent.length + 1)))
  }
  await scanBravo(sites)
  expect(listReceivedNumbers(sites)).toEqual([1, 3, 2])
})

describe.each(['env', 'body'])('the %s alone is left in work', (part) => {
  const other = part === 'env' ? 'body' : 'env'
  test.beforeEach(({ sites }) => cutPower(sites, () => removeFiles(sites, new RegExp(`-0+2\\.${other}\\.`))))

  test('a new copy takes its place, with any content', async ({ sites }) => {
    expect(await readInStatus(sites)).toMatchObject({ gaps: 1 })
    for (const path of listMatching(readFolders(sites).work, /./)) fs.truncateSync(path, 3)
    await requestResend(sites)
    expect(listReceivedNumbers(sites)).toEqual([1, 3, 2])
    expect(listLeft(sites)).toEqual([])
    expect(listReasons(sites)).toEqual([])
  })

  test('without one it ends after a day, and the number is still missing', async ({ sites }) => {
    sites.clock.ms += 86_400_000
    await scanBravo(sites)
    expect(listReasons(sites)).toEqual(['TRUNCATED'])
    expect(listLeft(sites)).toEqual([])
    expect(await readInStatus(sites)).toMatchObject({ gaps: 1 })
    await requestResend(sites)
    expect(listReceivedNumbers(sites).slice(0, 3)).toEqual([1, 3, 2])
  })
})

test.for(['env', 'body', 'env|body'])(
  '%s empty in work: quarantined with a reason, and requested again',
  async (part, { sites }) => {
    await cutPower(sites, () => emptyFiles(sites, new RegExp(`-0+2\\.(${part})\\.`)))
    await scanBravo(sites)
    expect(listReasons(sites)).toHaveLength(1)
    expect(await readInStatus(sites)).toMatchObject({ gaps: 1 })
    await requestResend(sites)
    expect(listReceivedNumbers(sites)).toEqual([1, 3, 2])
    expect(await readInStatus(sites)).toMatchObject({ state: 'open', gaps: 0 })
  },
)

test('empty in new, as if it had never been moved: requested again before its day is over', async ({ sites }) => {
  await cutPower(sites, () => emptyFiles(sites, /-0+2\./, readFolders(sites).fresh))
  await scanBravo(sites)
  expect(await readInStatus(sites)).toMatchObject({ gaps: 1 })
  await requestResend(sites)
  expect(listReceivedNumbers(sites)).toEqual([1, 3, 2])
  expect(listLeft(sites)).toEqual([])
})

test('back in new, as if it had never been moved: goes on, and is not missing', async ({ sites }) => {
  await cutPower(sites, () => {
    for (const path of listMatching(readFolders(sites).work, /-0+2\./)) {
      fs.renameSync(path, join(readFolders(sites).fresh, path.slice(readFolders(sites).work.length + 1)))
    }
  })
  expect(listReceivedNumbers(sites)).toEqual([1, 2, 3])
  expect(await listAuditRecords(sites, 'filedrop.messages.lost')).toEqual([])
})

test('a half of what was applied is ended by a second copy, and nothing is applied twice', async ({ sites }) => {
  await cutPower(sites, () => undefined)
  for (const path of listMatching(readFolders(sites).done, /-0+2\.env\./)) fs.rmSync(path)
  await sites.alpha.transport.rescan()
  await sites.alpha.transport.oneWay.resend({ peer: 'bravo', first: 2, last: 2 })
  carryFiles(sites.alpha, sites.bravo)
  await scanBravo(sites)
  expect(listMatching(readFolders(sites).done, /-0+2\./)).toHaveLength(2)
  expect(listReceivedNumbers(sites)).toEqual([1, 2, 3])
  expect(listLeft(sites)).toEqual([])
})

describe('the audit chain has the reason, though files and reason are gone', () => {
  const lastReason = async (sites: FiledropSites) =>
    (await listAuditRecords(sites, 'filedrop.message.quarantined')).at(-1)?.event?.detail

  test('of a message that its receiver refused', async ({ sites }) => {
    await restartSite(sites.bravo, () => ({
      verdict: 'refused',
      code: 'session_closed',
      detail: 'the session is over',
    }))
    await sendFromAlpha(sites, 1)
    carryFiles(sites.alpha, sites.bravo)
    await scanBravo(sites)
    for (const path of listMatching(readFolders(sites).quarantine, /./)) fs.rmSync(path)
    expect(await lastReason(sites)).toMatchObject({ reason: 'REFUSED', code: 'session_closed', epoch: 1, seq: 1 })
    expect(await readState(sites, 1)).toBe('refused')
  })

  test.for(['before', 'after'])(
    'of one that is POISON, whichever way a death falls %s its end is entered',
    async (when, { sites }) => {
      const forged = await forgeMessage(sites)
      dropMessage(sites, forged)
      await scanBravo(sites)
      // A start that found it in work and died, twice.
      for (let i = 0; i < 2; i++) await sites.bravo.journal.countFailure(channel, 1, 1)
      const journal = new Proxy(sites.bravo.journal, {
        get(target, name, self) {
          const original = Reflect.get(target, name, self) as (...args: unknown[]) => Promise<unknown>
          if (name !== 'recordOutcomes') return original
          return async (...args: unknown[]) => {
            if (when === 'after') await original(...args)
            throw new Error('the process died here')
          }
        },
      })
      isDown = false
      await restartSite(sites.bravo, buildVerdict, {}, { journal })
      for (const path of listMatching(readFolders(sites).work, /./)) fs.rmSync(path)
      // An ended message has its reason; one without an end is missing.
      const isEnded = (await readState(sites, 1)) === 'quarantined'
      expect(isEnded).toBe(when === 'after')
      const details = (await listAuditRecords(sites, 'filedrop.message.quarantined')).map(({ event }) => event?.detail)
      expect(details.some((detail) => detail?.reason === 'POISON')).toBe(isEnded)
      await restartSite(sites.bravo, buildVerdict)
      expect(await readInStatus(sites)).toMatchObject({ gaps: isEnded ? 0 : 1 })
    },
  )
})
