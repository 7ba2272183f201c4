// Every reason of the format's list, shown on a file made for it: it ends in quarantine with that reason, and nothing is applied.
import * as fs from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { listQuarantine } from '../../../../adapters/transport/filedrop/quarantine/quarantine-list.ts'
import { type QuarantineReason, quarantineReasons } from '../../../../adapters/transport/filedrop/quarantine-reasons.ts'
import { formatFreshPath, scanBravo } from '../../../support/filedrop/filedrop-readers.ts'
import { listChannelFolders, listQuarantineReasons, restartSite } from '../../../support/filedrop/filedrop-sites.ts'
import { filedropTest } from '../../../support/filedrop/filedrop-test.ts'
import { dropMessage, forgeMessage } from '../../../support/filedrop/forge-message.ts'
import { contentCases } from '../../../support/filedrop/quarantine-content-cases.ts'
import { fileCases } from '../../../support/filedrop/quarantine-file-cases.ts'
import { dropForged, formatHours } from '../../../support/filedrop/quarantine-forgeries.ts'

const test = filedropTest.extend({ options: { receiving: ['bravo'] } })
const quarantineCases = [...fileCases, ...contentCases]

test.for(quarantineCases)('$reason: $what', async ({ reason, make }, { sites }) => {
  await make(sites)
  await scanBravo(sites)
  const found = listQuarantineReasons(sites.bravo, 'alpha')
  // A name spoils both files of a message.
  expect(new Set(found.map((each) => each.reason))).toEqual(new Set([reason]))
  expect(sites.bravo.received).toEqual([])
  const { fresh: left, work, done, quarantine } = listChannelFolders(sites.bravo, 'alpha')
  expect([left, work, done].flatMap((folder) => fs.readdirSync(folder))).toEqual([])
  for (const file of fs.readdirSync(quarantine)) {
    const { mode, nlink, ...stat } = fs.lstatSync(join(quarantine, file))
    const isPlain = (mode & fs.constants.S_IFMT) === fs.constants.S_IFREG && nlink === 1
    // The mode from the sender; a link's is another file's.
    if (isPlain) expect([file, mode & 0o777, stat.uid]).toEqual([file, 0o600, process.getuid?.()])
  }
  expect(listQuarantine(sites.bravo.root, 'alpha', 9)).toHaveLength(found.length)
  const audited = await sites.bravo.audit.list({ action: 'filedrop.message.quarantined', limit: 9 })
  expect(audited).toHaveLength(found.length)
})

test('CHAIN_BREAK: judged as soon as both neighbours are there, from either side', async ({ sites }) => {
  const first = await forgeMessage(sites)
  dropMessage(sites, first)
  await dropForged(sites, { seq: 2, statement: { prev: 'b'.repeat(96) } })
  await dropForged(sites, { seq: 5, statement: { prev: 'c'.repeat(96) } })
  await scanBravo(sites)
  await dropForged(sites, { seq: 4 })
  await scanBravo(sites)
  expect(listQuarantineReasons(sites.bravo, 'alpha').map(({ reason, name }) => [reason, name.slice(0, 25)])).toEqual([
    ['CHAIN_BREAK', '00000001-0000000000000002'],
    ['CHAIN_BREAK', '00000001-0000000000000004'],
  ])
  await dropForged(sites, { seq: 2, statement: { prev: first.digest } })
  await scanBravo(sites)
  expect(sites.bravo.received.map(({ statement }) => statement.seq)).toEqual([1, 5, 2])
})

test('EQUIVOCATION: freezes the channel, also over a restart', async ({ sites }) => {
  await dropForged(sites)
  await scanBravo(sites)
  await dropForged(sites, { statement: { max_hops: 0 } })
  await dropForged(sites, { seq: 2 })
  await scanBravo(sites)
  await restartSite(sites.bravo)
  expect(listQuarantineReasons(sites.bravo, 'alpha').map(({ reason }) => reason)).toEqual(['EQUIVOCATION'])
  expect(sites.bravo.received).toHaveLength(1)
  const [status] = (await sites.bravo.transport.status()).filter(({ direction }) => direction === 'in')
  expect(status).toMatchObject({ state: 'frozen', backlog: 1 })
  expect(await sites.bravo.audit.list({ action: 'filedrop.channel.equivocation', limit: 9 })).toHaveLength(1)
})

test('REFUSED: the operation refused, and its code is stored', async ({ sites }) => {
  await restartSite(sites.bravo, () => ({
    verdict: 'refused',
    code: 'session_closed',
    detail: 'the session is closed',
  }))
  await dropForged(sites)
  await scanBravo(sites)
  expect(listQuarantineReasons(sites.bravo, 'alpha')).toMatchObject([{ reason: 'REFUSED', code: 'session_closed' }])
  await dropForged(sites)
  await scanBravo(sites)
  expect(listQuarantineReasons(sites.bravo, 'alpha')).toHaveLength(1)
  expect((await sites.bravo.transport.status()).find(({ direction }) => direction === 'in')).toMatchObject({
    ...{ gaps: 0, next_seq: 2, received: 0, duplicates: 1, quarantined: 1 },
  })
})

test('POISON: after three attempts, while what comes behind it goes on', async ({ sites }) => {
  let attempts = 0
  await restartSite(sites.bravo, ({ statement }) => {
    if (statement.seq === 2) return { verdict: 'applied' }
    attempts += 1
    throw new Error('a bug in the receiving role')
  })
  await dropForged(sites)
  await dropForged(sites, { seq: 2, statement: { prev: (await forgeMessage(sites)).digest } })
  for (let i = 0; i < 5; i++) await scanBravo(sites)
  expect(attempts).toBe(3)
  expect(listQuarantineReasons(sites.bravo, 'alpha').map(({ reason }) => reason)).toEqual(['POISON'])
  expect(sites.bravo.received.map(({ statement }) => statement.seq)).toEqual([2])
})

test('TRUNCATED: half a message, or half an envelope, waits a day as this site counts it', async ({ sites }) => {
  const { envelope, body, stem } = await forgeMessage(sites)
  fs.writeFileSync(join(formatFreshPath(sites), `${stem}.body.json`), body)
  await dropForged(sites, { seq: 2, envelope: (text) => text.slice(0, -10) })
  await dropForged(sites, { seq: 3, placed: '{' })
  fs.writeFileSync(join(formatFreshPath(sites), '.carrier-is-writing'), 'x')
  await scanBravo(sites)
  sites.clock.ms += 86_400_000 - 1
  await restartSite(sites.bravo)
  expect(listQuarantineReasons(sites.bravo, 'alpha')).toEqual([])
  fs.writeFileSync(join(formatFreshPath(sites), `${stem}.env.json`), envelope)
  await scanBravo(sites)
  expect(sites.bravo.received).toHaveLength(1)
  sites.clock.ms += 1
  await scanBravo(sites)
  expect(listQuarantineReasons(sites.bravo, 'alpha').map(({ reason }) => reason)).toEqual([
    'TRUNCATED',
    'TRUNCATED',
    'TRUNCATED',
  ])
  expect(fs.readdirSync(formatFreshPath(sites))).toEqual([])
})

test('a full quarantine stops the intake, and says so', async ({ sites }) => {
  await restartSite(sites.bravo, undefined, { quarantine_max_bytes: 1 })
  await dropForged(sites, { envelope: () => 'not json' })
  await scanBravo(sites)
  await dropForged(sites, { seq: 2 })
  await scanBravo(sites)
  expect(sites.bravo.received).toEqual([])
  expect(fs.readdirSync(formatFreshPath(sites))).toHaveLength(2)
  const [status] = (await sites.bravo.transport.status()).filter(({ direction }) => direction === 'in')
  expect(status).toMatchObject({ quarantined: 1, detail: expect.stringContaining('quarantine is full') })
  fs.rmSync(listChannelFolders(sites.bravo, 'alpha').quarantine, { recursive: true })
  fs.mkdirSync(listChannelFolders(sites.bravo, 'alpha').quarantine)
  await restartSite(sites.bravo)
  expect(sites.bravo.received).toHaveLength(1)
})

test('empty files fill the quarantine too, by the bytes written about them', async ({ sites }) => {
  await restartSite(sites.bravo, undefined, { quarantine_max_bytes: 1 })
  fs.writeFileSync(join(formatFreshPath(sites), 'unexpected-1'), '')
  await scanBravo(sites)
  fs.writeFileSync(join(formatFreshPath(sites), 'unexpected-2'), '')
  await scanBravo(sites)
  expect(fs.readdirSync(formatFreshPath(sites))).toEqual(['unexpected-2'])
})

test('a name that no peer can have leads to no quarantine', async ({ sites }) => {
  await dropForged(sites, { envelope: () => 'not json' })
  await scanBravo(sites)
  const { root } = sites.bravo
  expect(listQuarantine(root, 'alpha', 9)).toHaveLength(1)
  expect(listQuarantine(join(root, 'elsewhere'), '../alpha', 9)).toEqual([])
})

test('without a trusted clock sequence alone decides', async ({ sites }) => {
  await restartSite(sites.bravo, undefined, { trusted_clock: false })
  await dropForged(sites, { statement: { created: formatHours(-24 * 99), not_after: formatHours(-24 * 98) } })
  await scanBravo(sites)
  expect(sites.bravo.received).toHaveLength(1)
})

test('every reason that this carrier can give has a case', () => {
  const elsewhere: QuarantineReason[] = ['EQUIVOCATION', 'REFUSED', 'POISON', 'TRUNCATED', 'QUOTA', 'SCANNER']
  const shown = new Set([...quarantineCases.map(({ reason }) => reason), ...elsewhere])
  expect(quarantineReasons.filter((reason) => !shown.has(reason))).toEqual([])
})
