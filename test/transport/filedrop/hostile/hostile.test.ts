// Any content of the folder: the carrier stays up, reports each file, and applies only signed messages.
import * as fs from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect } from 'vitest'
import { formatFreshPath } from '../../../support/filedrop/filedrop-readers.ts'
import {
  type FiledropSites,
  listChannelFolders,
  listQuarantineReasons,
  restartSite,
} from '../../../support/filedrop/filedrop-sites.ts'
import { filedropTest } from '../../../support/filedrop/filedrop-test.ts'
import { dropMessage, type ForgedMessage, forgeMessage } from '../../../support/filedrop/forge-message.ts'

const test = filedropTest.extend({ options: { receiving: ['bravo'] } })
let soundMessage: ForgedMessage
test.beforeEach(async ({ sites }) => {
  soundMessage = await forgeMessage(sites)
})

const countFiles = (sites: FiledropSites) => {
  const { work, done, quarantine } = listChannelFolders(sites.bravo, 'alpha')
  const count = (folder: string) => fs.readdirSync(folder).filter((name) => !name.endsWith('.reason.json')).length
  return { waiting: count(formatFreshPath(sites)) + count(work), done: count(done), quarantined: count(quarantine) }
}

/** Bytes of any kind, and sound files with a piece cut out, doubled or overwritten. */
const anyContents = (whole: () => string) =>
  fc.oneof(
    fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
    fc.tuple(fc.nat(), fc.nat({ max: 40 }), fc.uint8Array({ maxLength: 20 })).map(([at, length, piece]) => {
      const bytes = Buffer.from(whole())
      const place = at % (bytes.length + 1)
      return Buffer.concat([bytes.subarray(0, place), piece, bytes.subarray(place + length)])
    }),
  )

test('any bytes in both files end in quarantine, or wait for their end', async ({ sites }) => {
  const pair = fc.tuple(
    anyContents(() => soundMessage.envelope),
    anyContents(() => String(soundMessage.body)),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(pair, { minLength: 1, maxLength: 5 }), async (pairs) => {
      const before = countFiles(sites)
      let unchanged = 0
      pairs.forEach(([envelope, body], index) => {
        if (envelope.toString() === soundMessage.envelope && body.toString() === soundMessage.body) unchanged += 1
        dropMessage(sites, {
          ...soundMessage,
          envelope: envelope as unknown as string,
          body,
          stem: `00000001-${String(index + 1).padStart(16, '0')}`,
        })
      })
      await sites.bravo.transport.rescan()
      const after = countFiles(sites)
      expect(sites.bravo.received.length).toBeLessThanOrEqual(unchanged)
      expect(after.waiting + after.quarantined + after.done).toBeGreaterThanOrEqual(before.quarantined + pairs.length)
      for (const name of fs.readdirSync(formatFreshPath(sites))) fs.rmSync(join(formatFreshPath(sites), name))
    }),
    { numRuns: 60, seed: 21 },
  )
  expect(sites.bravo.events.filter(({ event }) => event.endsWith('failed'))).toEqual([])
})

test('names with path tricks stay in quarantine under names of ours', async ({ sites }) => {
  const names = [
    '..env.json',
    '%2e%2e%2fescape',
    'a\\..\\b',
    'x'.repeat(255),
    '-rf',
    ' ',
    '\n',
    '00000001-0000000000000001.env.json\u202e',
    '00000001-1.env.json',
    'CHANNEL.json',
  ]
  for (const name of names) fs.writeFileSync(join(formatFreshPath(sites), name), name)
  await sites.bravo.transport.rescan()
  sites.clock.ms += 86_400_000
  await sites.bravo.transport.rescan()
  const reasons = listQuarantineReasons(sites.bravo, 'alpha')
    .map(({ reason }) => reason)
    .sort()
  expect(reasons).toEqual([...Array.from({ length: names.length - 1 }, () => 'NAME'), 'TRUNCATED'])
  const { quarantine } = listChannelFolders(sites.bravo, 'alpha')
  expect(fs.readdirSync(quarantine).filter((name) => !/^stranger-[0-9a-f]{16}-[0-9a-f]{8}\./.test(name))).toEqual([])
})

test('the sender’s modes count for nothing', async ({ sites }) => {
  dropMessage(sites, soundMessage)
  for (const name of fs.readdirSync(formatFreshPath(sites))) fs.chmodSync(join(formatFreshPath(sites), name), 0o4777)
  await sites.bravo.transport.rescan()
  const { done } = listChannelFolders(sites.bravo, 'alpha')
  expect(fs.readdirSync(done).map((name) => fs.statSync(join(done, name)).mode & 0o7777)).toEqual([0o600, 0o600])
})

test('two hundred messages are taken in order, with a thousand strangers between them', async ({ sites }) => {
  let prev = '0'.repeat(96)
  for (let seq = 1; seq <= 200; seq++) {
    const forged = await forgeMessage(sites, { seq, statement: { prev } })
    prev = forged.digest
    dropMessage(sites, forged)
    for (let i = 0; i < 5; i++) fs.writeFileSync(join(formatFreshPath(sites), `stranger ${seq} ${i}`), '')
  }
  await restartSite(sites.bravo)
  expect(sites.bravo.received.map(({ statement }) => statement.seq)).toEqual(
    Array.from({ length: 200 }, (_, i) => i + 1),
  )
  expect(countFiles(sites)).toEqual({ waiting: 0, done: 400, quarantined: 1_000 })
})

test('a handler that throws anything, and a peer list that cannot be read, stop nothing for good', async ({
  sites,
}) => {
  dropMessage(sites, soundMessage)
  let isBroken = true
  await restartSite(sites.bravo, () => {
    if (isBroken) throw Object.assign(Object.create(null), { odd: true })
    return { verdict: 'applied' }
  })
  isBroken = false
  await sites.bravo.transport.rescan()
  expect(sites.bravo.received).toHaveLength(1)
  const options = sites.bravo.options()
  const broken = { list: () => Promise.reject(new Error('unreadable')), get: options.peers.get }
  await restartSite(sites.bravo, undefined, {}, { peers: broken })
  expect(sites.bravo.events.at(-1)?.event).toBe('filedrop.peers.unreadable')
})
