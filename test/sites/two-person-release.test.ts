// A message is released from quarantine by two people with the packaged executable alone: keys, enrolment, request, approval; and a spillage is purged.
import * as fs from 'node:fs'
import path from 'node:path'
import { expect } from 'vitest'
import { joseSignatures } from '../../adapters/keys/jose/signatures.ts'
import { canonicalJson, sha384 } from '../../daemon/kernel/encoding/canonical-json.ts'
import type { CommandResult } from '../support/command/run-command.ts'
import { runExecutable } from '../support/command/run-executable.ts'
import {
  type CourierParcel,
  deliverParcels,
  formatChannelFolder,
  listQuarantined,
  pickUpParcels,
} from '../support/site/courier.ts'
import type { FederatedSite } from '../support/site/packaged-federation.ts'
import { createPackagedPairTest, findDaemon } from '../support/site/packaged-pair-test.ts'
import {
  answerInvitation,
  findSession,
  openInvitedSession,
  type PackagedSitePair,
  waitForState,
} from '../support/site/packaged-site-pair.ts'
import { waitUntil } from '../support/site/test-site.ts'

const test = createPackagedPairTest()

let purgedSession: string
test.beforeAll(async ({ pair }) => {
  for (const subject of ['ann', 'ben']) await enrolPerson(pair, pair.alpha, subject)
})

const formatMediumPath = (pair: PackagedSitePair, subject: string) => path.join(pair.world.dir, `medium-${subject}`)

/** As the person does it, on a machine without a site; and as the site does it, with the fingerprint from the person. */
async function enrolPerson(pair: PackagedSitePair, site: FederatedSite, subject: string): Promise<void> {
  const made = await runExecutable([
    'keys',
    'generate',
    '--use',
    'personal',
    '--dir',
    formatMediumPath(pair, subject),
    '--json',
  ])
  const { fingerprint, kid } = JSON.parse(made.stdout)
  const file = path.join(pair.world.dir, `${subject}.json`)
  expect((await runExecutable(['keys', 'export', '--dir', formatMediumPath(pair, subject), '--out', file])).exit).toBe(
    0,
  )
  expect((await runExecutable(['keys', 'list', '--dir', formatMediumPath(pair, subject)])).stdout).toContain(kid)
  await site.runJson(['people', 'add', subject, file, '--fingerprint', fingerprint])
}

/** A command at alpha by this person: their token, their key. */
async function runAs(pair: PackagedSitePair, subject: string, words: readonly string[]): Promise<CommandResult> {
  const who = ['--subject', subject, '--roles', 'operator', '--clearance', 'RESTRICTED']
  const minted = await pair.alpha.runJson(['token', 'mint', ...who])
  const [key = ''] = fs.readdirSync(formatMediumPath(pair, subject))
  return await runExecutable(
    [...words, '--key', path.join(formatMediumPath(pair, subject), key), '--site', pair.alpha.dir],
    {
      env: { PLATFORM_TOKEN: minted.token },
    },
  )
}

/** Of the last statement that was altered: the next one follows it, and not the one that bravo made. */
let before: string | undefined

/** Bravo's message about a session of alpha, altered and signed again by bravo's own key. */
async function alterMessage(
  pair: PackagedSitePair,
  change: (altered: Json, body: Json) => void,
): Promise<{ id: string; parcel: CourierParcel }> {
  const { bravo } = pair
  const { id, parcel } = await answerInvitation(pair)
  const altered = JSON.parse(Buffer.from(JSON.parse(parcel.env.toString()).payload, 'base64url').toString())
  const content = JSON.parse(parcel.body.toString())
  change(altered, content)
  const body = Buffer.from(canonicalJson(content))
  altered.body = { ...altered.body, sha384: sha384(body), length: body.length }
  altered.prev = before ?? altered.prev
  const keys = joseSignatures({ dir: path.join(bravo.dir, 'keys') })
  const statement = Buffer.from(canonicalJson(altered))
  before = sha384(statement)
  const env = Buffer.from(JSON.stringify(await keys.sign('statement', statement)))
  return { id, parcel: { ...parcel, body, env } }
}

// biome-ignore lint/suspicious/noExplicitAny: statements and bodies that no schema would take
type Json = any

const formatDaysAhead = (count: number) => new Date(Date.now() + count * 86_400_000).toISOString()

const cases: readonly [reason: string, change: (altered: Json, body: Json) => void, words: readonly string[]][] = [
  [
    'EXPIRED',
    (altered) => {
      altered.created = formatDaysAhead(-9)
      altered.not_after = formatDaysAhead(-2)
    },
    [],
  ],
  [
    'LABEL_MISSING',
    (altered, body) => {
      delete altered.label
      delete body.label
    },
    ['--classification', 'RESTRICTED', '--releasable-to', 'alpha,bravo,charlie'],
  ],
]

test.for(cases)(
  '%s: one asks, the other approves, and the opinion counts',
  async ([reason, change, words], { pair }) => {
    const { alpha, atAlpha, toAlpha } = pair
    const { id, parcel } = await alterMessage(pair, change)
    deliverParcels(toAlpha, [parcel])
    await waitUntil(() => listQuarantined(toAlpha).find((each) => each.reason === reason))
    const { items } = await alpha.runJson(['filedrop', 'quarantine', 'list'])
    const [{ id: item }] = items
    const command = [
      'filedrop',
      'quarantine',
      'request',
      item,
      '--waive',
      reason,
      '--reason',
      'seen and vouched for',
      ...words,
    ]
    expect((await runAs(pair, 'ann', [...command, '--waive', 'FUTURE'])).exit).toBe(3)
    const answered = await runAs(pair, 'ann', command)
    expect(answered.exit, answered.stderr).toBe(0)
    expect((await alpha.runJson(['filedrop', 'quarantine', 'show', item])).release).toMatchObject({ subject: 'ann' })
    const approve = ['filedrop', 'quarantine', 'approve', item]
    expect(await runAs(pair, 'ann', approve)).toMatchObject({ exit: 3, stdout: '' })
    expect((await findSession(atAlpha, id))?.state).toBe('PENDING_QUORUM')
    const approved = await runAs(pair, 'ben', approve)
    expect(approved.exit, approved.stderr).toBe(0)
    await waitForState(atAlpha, id, 'RATIFIED')
    expect(listQuarantined(toAlpha)).toEqual([])
    const list = ['audit', 'list', '--role', 'site', '--action', 'site.quarantine.approve', '--limit', '1']
    const audited = await alpha.runJson(list)
    expect(audited.items[0].event).toMatchObject({ subject: 'ben', target: item })
    expect((await alpha.runJson(['audit', 'verify'])).whole).toBe(true)
  },
)

test('a person who was let go approves nothing more', async ({ pair }) => {
  const { alpha, toAlpha } = pair
  const { parcel } = await alterMessage(pair, (altered) => {
    altered.created = formatDaysAhead(-9)
    altered.not_after = formatDaysAhead(-2)
  })
  deliverParcels(toAlpha, [parcel])
  await waitUntil(() => listQuarantined(toAlpha).find((each) => each.reason === 'EXPIRED'))
  const [{ id: item }] = (await alpha.runJson(['filedrop', 'quarantine', 'list'])).items
  const request = ['filedrop', 'quarantine', 'request', item, '--waive', 'EXPIRED', '--reason', 'late']
  expect(await runAs(pair, 'ann', request)).toMatchObject({ exit: 0 })
  await alpha.runJson(['people', 'remove', 'ben', '--yes'])
  expect(await runAs(pair, 'ben', ['filedrop', 'quarantine', 'approve', item])).toMatchObject({ exit: 3, stdout: '' })
  expect(listQuarantined(toAlpha)).toHaveLength(1)
})

test('purge finds a body in quarantine and in the backups that hold it, and tells what it could not reach', async ({
  pair,
}) => {
  const { alpha, bravo, atAlpha, toBravo, toAlpha } = pair
  const [file = ''] = fs
    .readdirSync(formatChannelFolder(alpha, bravo, 'in', 'quarantine'))
    .filter((name) => name.includes('.body.'))
  const spilled = sha384(fs.readFileSync(formatChannelFolder(alpha, bravo, 'in', 'quarantine', file)))
  expect((await alpha.run(['filedrop', 'purge', spilled, '--reason', 'spillage'])).exit).toBe(3)
  const purged = await alpha.runJson(['filedrop', 'purge', spilled, '--reason', 'spillage', '--yes'])
  expect(purged).toMatchObject({ places: [`bravo/in/quarantine/${file}`], backups: [] })
  expect(purged.remains.length).toBeGreaterThan(2)
  expect(fs.existsSync(formatChannelFolder(alpha, bravo, 'in', 'quarantine', file))).toBe(false)
  // The message that waits for the courier, and was backed up meanwhile.
  pickUpParcels(toBravo)
  const id = await openInvitedSession(atAlpha, 0.9)
  const ready = formatChannelFolder(alpha, bravo, 'out', 'ready')
  const waiting = await waitUntil(() => fs.readdirSync(ready).find((name) => isAbout(path.join(ready, name), id)))
  fs.mkdirSync(path.join(alpha.dir, 'data', 'backups'), { mode: 0o700 })
  await alpha.runJson(['store', 'backup', path.join(alpha.dir, 'data', 'backups', 'before')])
  const outside = path.join(pair.world.dir, 'outside')
  await alpha.runJson(['store', 'backup', outside])
  const digest = sha384(fs.readFileSync(path.join(ready, waiting)))
  const again = await alpha.runJson(['filedrop', 'purge', digest, '--reason', 'spillage', '--yes'])
  purgedSession = digest
  expect(again.backups).toEqual([
    { name: 'backups/before', holds: 'yes' },
    { name: expect.stringMatching(`^${outside}, of 2`), holds: 'unknown' },
  ])
  expect(again.sessions).toEqual([id])
  expect(pickUpParcels(toBravo)).toEqual([])
  // The purge closed the item whose body it removed.
  expect(listQuarantined(toAlpha)).toEqual([])
  const text = await alpha.run(['filedrop', 'purge', digest, '--reason', 'spillage', '--yes'])
  expect(text.stdout).toContain('not reached from here')
})

test('a backup from before a purge brings nothing back of what was purged', async ({ pair }) => {
  const { alpha, toBravo } = pair
  expect(await findDaemon(pair, alpha).stop()).toBe(0)
  const backup = path.join(alpha.dir, 'data', 'backups', 'before')
  // One order was made before the backup, one after.
  expect(await alpha.runJson(['store', 'restore', backup, '--yes'])).toMatchObject({ purged_again: 1 })
  pair.daemons.set(alpha, await alpha.start())
  const { items } = await alpha.runJson(['audit', 'list', '--role', 'site', '--action', 'site.store.restore'])
  expect(items.map(({ event }: Json) => event.detail)).toContainEqual({ purged: true })
  await alpha.runJson(['filedrop', 'epoch', 'bravo', '--yes'])
  const parcels = await waitUntil(() => {
    const found = pickUpParcels(toBravo)
    return found.some(({ stem }) => stem.startsWith('00000002')) && found
  })
  expect(parcels.map(({ body }) => sha384(body))).not.toContain(purgedSession)
  // So that no file moves on while it is looked at.
  expect(await findDaemon(pair, alpha).stop()).toBe(0)
  const root = path.join(alpha.dir, 'filedrop')
  const files = fs.readdirSync(root, { recursive: true, encoding: 'utf8' }).map((name) => path.join(root, name))
  const bodies = files.filter((file) => file.endsWith('.body.json')).map((file) => sha384(fs.readFileSync(file)))
  expect(bodies.length).toBeGreaterThan(0)
  expect(bodies).not.toContain(purgedSession)
})

function isAbout(file: string, session: string): boolean {
  return file.endsWith('.body.json') && fs.readFileSync(file, 'utf8').includes(session)
}
