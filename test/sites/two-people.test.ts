// A message is released from quarantine by two people with the packaged executable alone: keys, enrolment, request, approval; and a spillage is purged.
import * as fs from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { joseSignatures } from '../../adapters/keys/jose/signatures.ts'
import { canonical, sha384 } from '../../daemon/kernel/canonical.ts'
import type { Ended } from '../support/command-line.ts'
import { type Daemon, type PackagedSite, run } from '../support/packaged-sites.ts'
import { until } from '../support/site-world.ts'
import { bring, folderOf, type Parcel, pickUp, quarantined } from './courier.ts'
import { ask, inState, seen, spoken, type Two, twoSites } from './question.ts'

let two: Two
let alphaRuns: Daemon
let purgedAtLast: string
beforeAll(async () => {
  two = await twoSites()
  const [runs] = await Promise.all([two.alpha.start(), two.bravo.start()])
  alphaRuns = runs
  for (const subject of ['ann', 'ben']) await enrol(two.alpha, subject)
})
afterAll(() => two?.world.end())

const medium = (subject: string) => path.join(two.world.dir, `medium-${subject}`)

/** As the person does it, on a machine without a site; and as the site does it, with the fingerprint that it was told. */
async function enrol(site: PackagedSite, subject: string): Promise<void> {
  const made = await run(['keys', 'generate', '--use', 'personal', '--dir', medium(subject), '--json'])
  const { fingerprint, kid } = JSON.parse(made.stdout)
  const file = path.join(two.world.dir, `${subject}.json`)
  expect((await run(['keys', 'export', '--dir', medium(subject), '--out', file])).exit).toBe(0)
  expect((await run(['keys', 'list', '--dir', medium(subject)])).stdout).toContain(kid)
  await site.answered(['people', 'add', subject, file, '--fingerprint', fingerprint])
}

/** A command at alpha by this person: their token, their key. */
async function as(subject: string, words: readonly string[]): Promise<Ended> {
  const who = ['--subject', subject, '--roles', 'operator', '--clearance', 'RESTRICTED']
  const minted = await two.alpha.answered(['token', 'mint', ...who])
  const [key = ''] = fs.readdirSync(medium(subject))
  return await run([...words, '--key', path.join(medium(subject), key), '--site', two.alpha.dir], {
    env: { PLATFORM_TOKEN: minted.token },
  })
}

/** Of the last statement that was altered: the next one follows it, and not the one that bravo made. */
let before: string | undefined

/** What bravo says of a session of alpha, altered and signed again by bravo's own key. */
async function altered(change: (said: Json, body: Json) => void): Promise<{ id: string; parcel: Parcel }> {
  const { bravo } = two
  const { id, parcel } = await spoken(two)
  const said = JSON.parse(Buffer.from(JSON.parse(parcel.env.toString()).payload, 'base64url').toString())
  const content = JSON.parse(parcel.body.toString())
  change(said, content)
  const body = Buffer.from(canonical(content))
  said.body = { ...said.body, sha384: sha384(body), length: body.length }
  said.prev = before ?? said.prev
  const keys = joseSignatures({ dir: path.join(bravo.dir, 'keys') })
  const statement = Buffer.from(canonical(said))
  before = sha384(statement)
  const env = Buffer.from(JSON.stringify(await keys.sign('statement', statement)))
  return { id, parcel: { ...parcel, body, env } }
}

// biome-ignore lint/suspicious/noExplicitAny: statements and bodies that no schema would take
type Json = any

const days = (count: number) => new Date(Date.now() + count * 86_400_000).toISOString()

const cases: readonly [reason: string, change: (said: Json, body: Json) => void, words: readonly string[]][] = [
  [
    'EXPIRED',
    (said) => {
      said.created = days(-9)
      said.not_after = days(-2)
    },
    [],
  ],
  [
    'LABEL_MISSING',
    (said, body) => {
      delete said.label
      delete body.label
    },
    ['--classification', 'RESTRICTED', '--releasable-to', 'alpha,bravo,charlie'],
  ],
]

test.each(cases)('%s: one asks, the other approves, and the opinion counts', async (reason, change, words) => {
  const { alpha, atAlpha, back } = two
  const { id, parcel } = await altered(change)
  bring(back, [parcel])
  await until(() => quarantined(back).find((each) => each.reason === reason))
  const { items } = await alpha.answered(['filedrop', 'quarantine', 'list'])
  const [{ id: item }] = items
  const asked = [
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
  expect((await as('ann', [...asked, '--waive', 'FUTURE'])).exit).toBe(3)
  const answered = await as('ann', asked)
  expect(answered.exit, answered.stderr).toBe(0)
  expect((await alpha.answered(['filedrop', 'quarantine', 'show', item])).release).toMatchObject({ subject: 'ann' })
  const approve = ['filedrop', 'quarantine', 'approve', item]
  expect(await as('ann', approve)).toMatchObject({ exit: 3, stdout: '' })
  expect((await seen(atAlpha, id))?.state).toBe('PENDING_QUORUM')
  const approved = await as('ben', approve)
  expect(approved.exit, approved.stderr).toBe(0)
  await inState(atAlpha, id, 'RATIFIED')
  expect(quarantined(back)).toEqual([])
  const list = ['audit', 'list', '--role', 'site', '--action', 'site.quarantine.approve', '--limit', '1']
  const audited = await alpha.answered(list)
  expect(audited.items[0].event).toMatchObject({ subject: 'ben', target: item })
  expect((await alpha.answered(['audit', 'verify'])).whole).toBe(true)
})

test('a person who was let go approves nothing more', async () => {
  const { alpha, back } = two
  const { parcel } = await altered((said) => {
    said.created = days(-9)
    said.not_after = days(-2)
  })
  bring(back, [parcel])
  await until(() => quarantined(back).find((each) => each.reason === 'EXPIRED'))
  const [{ id: item }] = (await alpha.answered(['filedrop', 'quarantine', 'list'])).items
  const request = ['filedrop', 'quarantine', 'request', item, '--waive', 'EXPIRED', '--reason', 'late']
  expect(await as('ann', request)).toMatchObject({ exit: 0 })
  await alpha.answered(['people', 'remove', 'ben', '--yes'])
  expect(await as('ben', ['filedrop', 'quarantine', 'approve', item])).toMatchObject({ exit: 3, stdout: '' })
  expect(quarantined(back)).toHaveLength(1)
})

test('purge finds a body in quarantine and in the backups that hold it, and tells what it could not reach', async () => {
  const { alpha, bravo, atAlpha, there, back } = two
  const [file = ''] = fs
    .readdirSync(folderOf(alpha, bravo, 'in', 'quarantine'))
    .filter((name) => name.includes('.body.'))
  const spilled = sha384(fs.readFileSync(folderOf(alpha, bravo, 'in', 'quarantine', file)))
  expect((await alpha.platform(['filedrop', 'purge', spilled, '--reason', 'spillage'])).exit).toBe(3)
  const purged = await alpha.answered(['filedrop', 'purge', spilled, '--reason', 'spillage', '--yes'])
  expect(purged).toMatchObject({ places: [`bravo/in/quarantine/${file}`], backups: [] })
  expect(purged.remains.length).toBeGreaterThan(2)
  expect(fs.existsSync(folderOf(alpha, bravo, 'in', 'quarantine', file))).toBe(false)
  // What waits for the courier, and was backed up while it did.
  pickUp(there)
  const id = await ask(atAlpha, 0.9)
  const ready = folderOf(alpha, bravo, 'out', 'ready')
  const waiting = await until(() => fs.readdirSync(ready).find((name) => isAbout(path.join(ready, name), id)))
  fs.mkdirSync(path.join(alpha.dir, 'data', 'backups'), { mode: 0o700 })
  await alpha.answered(['store', 'backup', path.join(alpha.dir, 'data', 'backups', 'before')])
  const outside = path.join(two.world.dir, 'outside')
  await alpha.answered(['store', 'backup', outside])
  const digest = sha384(fs.readFileSync(path.join(ready, waiting)))
  const again = await alpha.answered(['filedrop', 'purge', digest, '--reason', 'spillage', '--yes'])
  purgedAtLast = digest
  expect(again.backups).toEqual([
    { name: 'backups/before', holds: 'yes' },
    { name: expect.stringMatching(`^${outside}, of 2`), holds: 'unknown' },
  ])
  expect(again.sessions).toEqual([id])
  expect(pickUp(there)).toEqual([])
  expect(quarantined(back)).toHaveLength(1)
  const text = await alpha.platform(['filedrop', 'purge', digest, '--reason', 'spillage', '--yes'])
  expect(text.stdout).toContain('not reached from here')
})

test('a backup from before a purge brings nothing back of what was purged', async () => {
  const { alpha, there } = two
  expect(await alphaRuns.stop()).toBe(0)
  const backup = path.join(alpha.dir, 'data', 'backups', 'before')
  // One order was given before it was made, one after.
  expect(await alpha.answered(['store', 'restore', backup, '--yes'])).toMatchObject({ purged_again: 1 })
  alphaRuns = await alpha.start()
  const { items } = await alpha.answered(['audit', 'list', '--role', 'site', '--action', 'site.store.restore'])
  expect(items.map(({ event }: Json) => event.detail)).toContainEqual({ purged: true })
  await alpha.answered(['filedrop', 'epoch', 'bravo', '--yes'])
  const parcels = await until(() => {
    const found = pickUp(there)
    return found.some(({ stem }) => stem.startsWith('00000002')) && found
  })
  expect(parcels.map(({ body }) => sha384(body))).not.toContain(purgedAtLast)
  // So that no file moves on while it is looked at.
  expect(await alphaRuns.stop()).toBe(0)
  const root = path.join(alpha.dir, 'filedrop')
  const files = fs.readdirSync(root, { recursive: true, encoding: 'utf8' }).map((name) => path.join(root, name))
  const bodies = files.filter((file) => file.endsWith('.body.json')).map((file) => sha384(fs.readFileSync(file)))
  expect(bodies.length).toBeGreaterThan(0)
  expect(bodies).not.toContain(purgedAtLast)
})

function isAbout(file: string, session: string): boolean {
  return file.endsWith('.body.json') && fs.readFileSync(file, 'utf8').includes(session)
}
