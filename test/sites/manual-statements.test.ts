// Statements that people carry by hand where nothing comes back: receipts of missing messages, and announced epochs.
import * as fs from 'node:fs'
import path from 'node:path'
import { describe, expect } from 'vitest'
import { runExecutable } from '../support/command/run-executable.ts'
import { type CourierParcel, deliverParcels, formatChannelFolder, pickUpParcels } from '../support/site/courier.ts'
import { createPackagedPairTest, findDaemon } from '../support/site/packaged-pair-test.ts'
import { findChannel, openInvitedSession, type PackagedSitePair } from '../support/site/packaged-site-pair.ts'
import { waitUntil } from '../support/site/test-site.ts'

const test = createPackagedPairTest()

const formatPath = (pair: PackagedSitePair, name: string) => path.join(pair.world.dir, name)
const listReadyEnvelopes = (pair: PackagedSitePair) =>
  fs.readdirSync(formatChannelFolder(pair.alpha, pair.bravo, 'out', 'ready')).filter((name) => /env/.test(name))

/** So many invitations, taken from alpha and in no other hands yet. */
async function takeInvitations(pair: PackagedSitePair, count: number): Promise<CourierParcel[]> {
  for (let each = 0; each < count; each++) await openInvitedSession(pair.atAlpha, 0.94)
  await waitUntil(() => listReadyEnvelopes(pair).length === count)
  return pickUpParcels(pair.toBravo)
}

async function waitForArrivals(pair: PackagedSitePair, highest: number, gaps: number): Promise<void> {
  await waitUntil(async () => {
    const now = await findChannel(pair.atBravo, 'alpha', 'in')
    return now.highest_seq === highest && now.gaps === gaps && now.backlog === now.held
  })
}

describe('a receipt carried back', () => {
  let receipt: string
  let lost: CourierParcel
  test('names the missing messages', async ({ pair }) => {
    const [first, second, third] = await takeInvitations(pair, 3)
    if (!first || !second || !third) throw new Error('three were taken')
    lost = second
    deliverParcels(pair.toBravo, [first, third])
    await waitForArrivals(pair, 3, 1)
    const made = await pair.bravo.runJson(['filedrop', 'gaps', 'alpha', '--out', pair.world.dir])
    expect(made.says).toMatchObject({
      src: 'bravo',
      dst: 'alpha',
      floor: 1,
      highest: 3,
      missing: [{ first: 2, last: 2 }],
    })
    receipt = made.file
    expect(path.basename(receipt)).toMatch(/^gaps-bravo-1-\d{8}T\d{6}Z\.json$/)
    expect(fs.statSync(receipt).mode & 0o777).toBe(0o600)
  })

  test('is refused at the site that made it, and once it is altered', async ({ pair }) => {
    const own = await pair.bravo.run(['filedrop', 'resend', '--receipt', receipt])
    expect([own.exit, own.stderr]).toEqual([2, expect.stringContaining('carry it to alpha')])
    const note = JSON.parse(fs.readFileSync(receipt, 'utf8'))
    const content = JSON.parse(Buffer.from(note.payload, 'base64url').toString())
    const missing = [{ first: 2, last: 3 }]
    const payload = Buffer.from(JSON.stringify({ ...content, missing })).toString('base64url')
    fs.writeFileSync(formatPath(pair, 'altered.json'), JSON.stringify({ ...note, payload }))
    const altered = await pair.alpha.run(['filedrop', 'resend', '--receipt', formatPath(pair, 'altered.json')])
    expect([altered.exit, altered.stderr]).toEqual([3, expect.stringContaining('signature')])
    expect(listReadyEnvelopes(pair)).toEqual([])
  })

  test('brings the identical bytes once more, as often as it is used, and what waited goes on', async ({ pair }) => {
    for (let each = 0; each < 2; each++) {
      const done = await pair.alpha.runJson(['filedrop', 'resend', '--receipt', receipt])
      expect(done).toMatchObject({ peer: 'bravo', epoch: 1, resent: 1, not_resent: [] })
      expect(pickUpParcels(pair.toBravo)).toEqual([lost])
    }
    deliverParcels(pair.toBravo, [lost])
    await waitForArrivals(pair, 3, 0)
    expect((await pair.bravo.runJson(['filedrop', 'gaps', 'alpha'])).says.missing).toEqual([])
    expect(await findChannel(pair.atBravo, 'alpha', 'in')).toMatchObject({ received: 3, held: 0, quarantined: 0 })
  })

  test('is not needed where a person names the numbers; numbers that were never sent end with 5', async ({ pair }) => {
    const words = ['filedrop', 'resend', 'bravo', '--first', '2', '--last', '5', '--json']
    const { exit, stdout } = await pair.alpha.run(words)
    expect(exit).toBe(5)
    expect(JSON.parse(stdout)).toMatchObject({ resent: 2, not_resent: [{ first: 4, last: 5, why: 'never_sent' }] })
    deliverParcels(pair.toBravo, pickUpParcels(pair.toBravo))
    await waitUntil(async () => (await findChannel(pair.atBravo, 'alpha', 'in')).duplicates === 2)
  })
})

describe('a site that came back from a backup', () => {
  const pending: string[] = []
  const root = (pair: PackagedSitePair) => formatPath(pair, 'root-medium')
  const otherRoot = (pair: PackagedSitePair) => formatPath(pair, 'other-root-medium')
  const epoch = (pair: PackagedSitePair, ...words: readonly string[]) =>
    pair.alpha.run(['filedrop', 'epoch', 'bravo', '--json', ...words])
  test.beforeAll(async ({ pair }) => {
    await pair.alpha.runJson(['store', 'backup', formatPath(pair, 'backup')])
    deliverParcels(pair.toBravo, await takeInvitations(pair, 2))
    await waitForArrivals(pair, 5, 0)
    expect(await findDaemon(pair, pair.alpha).stop()).toBe(0)
    await keepRootsApart(pair)
    await pair.alpha.runJson(['store', 'restore', formatPath(pair, 'backup'), '--yes'])
    pair.daemons.set(pair.alpha, await pair.alpha.start())
  })

  /** The place of root keys: each on a medium outside the site, which knows them by its key set. */
  async function keepRootsApart(pair: PackagedSitePair): Promise<void> {
    const keys = path.join(pair.alpha.dir, 'keys')
    const draft = formatPath(pair, 'keyset.json')
    const second = formatPath(pair, 'second-root.json')
    expect((await runExecutable(['keys', 'generate', '--use', 'root', '--dir', otherRoot(pair)])).exit).toBe(0)
    expect((await runExecutable(['keys', 'export', '--dir', otherRoot(pair), '--out', second])).exit).toBe(0)
    await pair.alpha.runJson(['keys', 'set', 'draft', '--roots', second, '--root-threshold', '2', '--out', draft])
    fs.mkdirSync(root(pair), { mode: 0o700 })
    for (const name of fs.readdirSync(keys).filter((each) => each.startsWith('root-'))) {
      fs.renameSync(path.join(keys, name), path.join(root(pair), name))
    }
    for (const dir of [root(pair), otherRoot(pair)]) {
      expect((await runExecutable(['keys', 'set', 'sign', draft, '--dir', dir, '--yes'])).exit).toBe(0)
    }
    await pair.alpha.runJson(['keys', 'set', 'publish', draft, '--yes'])
  }

  test('sends nothing: no new message, nothing again, and says what to do', async ({ pair }) => {
    pending.push(await openInvitedSession(pair.atAlpha, 0.94))
    const channel = await waitUntil(async () => {
      const now = await findChannel(pair.atAlpha, 'bravo', 'out')
      return now.state === 'frozen' && now
    })
    expect(channel.detail).toContain('platform filedrop epoch bravo')
    const again = await pair.alpha.run(['filedrop', 'resend', 'bravo', '--first', '1', '--last', '3'])
    expect([again.exit, again.stderr]).toEqual([4, expect.stringContaining('platform filedrop epoch bravo')])
    expect(listReadyEnvelopes(pair)).toEqual([])
    const doctor = await pair.alpha.run(['doctor'])
    expect([doctor.exit, doctor.stdout]).toEqual([5, expect.stringContaining('platform filedrop epoch bravo')])
  })

  test('opens no epoch without a person, without root keys, with one of two, or with another site’s', async ({
    pair,
  }) => {
    expect(await epoch(pair)).toMatchObject({ exit: 3, stdout: '' })
    const without = await epoch(pair, '--yes')
    expect([without.exit, without.stderr]).toEqual([3, expect.stringContaining('--keys DIR')])
    const foreign = await epoch(pair, '--yes', '--keys', path.join(pair.bravo.dir, 'keys'))
    expect([foreign.exit, foreign.stderr]).toEqual([3, expect.stringContaining('signature')])
    const alone = await epoch(pair, '--yes', '--keys', root(pair))
    expect([alone.exit, alone.stderr]).toEqual([3, expect.stringContaining('fewer than 2 keys signed it')])
    expect(listReadyEnvelopes(pair)).toEqual([])
  })

  test('goes on in the next epoch, which its root keys announce first; then all pending messages follow', async ({
    pair,
  }) => {
    const draft = formatPath(pair, 'epoch.json')
    await pair.alpha.runJson(['filedrop', 'epoch', 'bravo', '--out', draft])
    expect((await epoch(pair, '--announcement', draft)).exit).toBe(2)
    for (const dir of [root(pair), otherRoot(pair), root(pair)]) {
      expect((await runExecutable(['keys', 'sign-epoch', draft, '--dir', dir, '--yes'])).exit).toBe(0)
    }
    const elsewhere = await pair.alpha.run(['filedrop', 'epoch', 'alpha', '--announcement', draft])
    expect(elsewhere.exit).toBe(2)
    const opened = await epoch(pair, '--announcement', draft)
    expect([opened.exit, opened.stderr]).toEqual([0, ''])
    expect(JSON.parse(opened.stdout)).toMatchObject({ src: 'alpha', dst: 'bravo', epoch: 2, reason: 'restored' })
    const parcels: CourierParcel[] = []
    await waitUntil(() => {
      parcels.push(...pickUpParcels(pair.toBravo))
      return parcels.some(({ body }) => body.includes(pending[0] ?? ''))
    })
    // The key set is announced as well, before it or after.
    const stems = parcels.map((_, index) => `00000002-${String(index + 1).padStart(16, '0')}`)
    expect(parcels.map(({ stem }) => stem)).toEqual(stems)
    const { data, label } = JSON.parse(String(parcels[0]?.body))
    expect(label).toMatchObject({ level: 'UNCLASSIFIED', releasable_to: ['bravo'] })
    const kids = [root(pair), otherRoot(pair)].flatMap((dir) =>
      fs.readdirSync(dir).filter((name) => name.endsWith('.json')),
    )
    const headers = data.epoch.signatures.map((each: { protected: string }) =>
      JSON.parse(Buffer.from(each.protected, 'base64url').toString()),
    )
    expect(headers.map(({ kid, typ }: { kid: string; typ: string }) => `${typ} ${kid}.json`).sort()).toEqual(
      kids.map((name) => `platform-epoch+jws ${name}`).sort(),
    )
    expect(await findChannel(pair.atAlpha, 'bravo', 'out')).toMatchObject({ state: 'open', epoch: 2 })
    expect((await epoch(pair, '--announcement', draft)).exit).toBe(3)
    expect((await pair.alpha.runJson(['audit', 'verify'])).whole).toBe(true)
  })
})
