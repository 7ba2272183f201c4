// Two daemons and a folder: what alpha decides and withdraws on a lens, bravo's analysts see, whoever else cannot be told.
import * as fs from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parse, stringify } from 'yaml'
import { list } from '../../daemon/roles/consensus/emission/list.ts'
import { attest } from '../../daemon/roles/consensus/session/attest.ts'
import { cancel } from '../../daemon/roles/consensus/session/cancel.ts'
import type { Daemon, PackagedSite } from '../support/packaged-sites.ts'
import type { Person } from '../support/person.ts'
import { until } from '../support/site-world.ts'
import { quarantined } from './courier.ts'
import { ask, carryUntil, channelOf, inState, say, seen, type Two, twoSites } from './question.ts'

let two: Two
let home: Daemon
let analyst: Person
beforeAll(async () => {
  two = await twoSites()
  tellBravo(two.alpha, path.join(two.world.dir, 'hook-secret'))
  ;[home] = await Promise.all([two.alpha.start(), two.bravo.start()])
  analyst = await two.bravo.as('ann', ['analyst'])
})
afterAll(() => two?.world.end())

/** Two ways to bravo, and before them one to a webhook that nobody answers at. */
function tellBravo({ dir }: PackagedSite, secret_file: string): void {
  fs.writeFileSync(secret_file, 'a-secret-of-this-test\n', { mode: 0o600 })
  const file = path.join(dir, 'profile.yaml')
  const profile = parse(fs.readFileSync(file, 'utf8')) as { consensus: Record<string, unknown> }
  profile.consensus.sinks = [
    { name: 'nobody', kind: 'webhook', url: 'http://127.0.0.1:9/hook', secret_file },
    { name: 'to-bravo', kind: 'filedrop', peer: 'bravo' },
    { name: 'again-to-bravo', kind: 'filedrop', peer: 'bravo' },
  ]
  fs.writeFileSync(file, stringify(profile, { aliasDuplicateObjects: false }))
}

/** A session of alpha alone, that bravo was not invited to. */
async function decided(alice: number, bob: number): Promise<string> {
  const id = await ask(two.atAlpha, alice, [])
  await say(two.atAlpha, id, 'bob', bob)
  return id
}

/** Carries until this many messages have come in at bravo's since the beginning, and nothing is on its way. */
async function arrived(count: number): Promise<void> {
  await carryUntil(two.there, async () => (await channelOf(two.atBravo, 'alpha', 'in')).received === count)
}

test('alpha ratifies and cancels; bravo lists the decision, then shows it withdrawn, with nothing in quarantine', async () => {
  const { atAlpha, atBravo, there } = two
  const id = await decided(0.94, 0.92)
  const { evidence_block_id } = await until(async () => {
    const session = await seen(atAlpha, id)
    return session?.evidence_block_id ? session : undefined
  })
  await arrived(2)
  const { items } = await analyst.ok(list, { session_id: id })
  expect(items).toMatchObject([
    {
      id: `${id}@alpha`,
      tenant_id: 'bravo',
      origin: 'alpha',
      origin_tenant_id: 'alpha',
      status: 'standing',
      decision: 'match',
      attested: false,
      evidence_block_id,
      lens_id: 'vessel-identity',
      subject: { left: 'vessel/a', right: 'vessel/b' },
      classification: { level: 'RESTRICTED' },
      federation: { transport: 'filedrop' },
    },
  ])
  expect(await seen(atBravo, id)).toBeUndefined()

  await atAlpha.ok(cancel, { id })
  await arrived(4)
  const after = await analyst.ok(list, { session_id: id })
  expect(after.items).toMatchObject([{ id: `${id}@alpha`, status: 'withdrawn', decision: 'match', evidence_block_id }])
  expect((await analyst.ok(list, { status: 'standing' })).items).toEqual([])

  expect(quarantined(there)).toEqual([])
  expect(await channelOf(atBravo, 'alpha', 'in')).toMatchObject({ quarantined: 0, gaps: 0, state: 'open' })
  // Both words to the webhook are still owed.
  expect(await seen(atAlpha, id)).toMatchObject({ state: 'WITHDRAWN', undelivered: 2, undeliverable: [] })
})

test('a decision that alpha was killed over is told once it is back, and the command line lists it at bravo', async () => {
  const { bravo, there } = two
  const id = await decided(0.95, 0.05)
  await inState(two.atAlpha, id, 'IN_CONFLICT')
  await two.atAlpha.ok(attest, { id, decision: 'non_match', rationale: 'seen alongside in harbour' })
  await home.kill()
  await two.alpha.start()
  await carryUntil(there, async () => (await analyst.ok(list, { session_id: id })).items.length === 1)
  const words = ['consensus', 'emissions', '--origin', 'alpha', '--status', 'standing']
  const { items } = await bravo.answered(words)
  expect(items).toMatchObject([{ session_id: id, decision: 'non_match', attested: true }])
  const { exit, stdout } = await bravo.platform(['consensus', 'emissions', '--session', id])
  expect([exit, stdout.split('\n')[1]]).toEqual([0, expect.stringMatching(new RegExp(`^alpha +${id} +standing`))])
  expect(quarantined(there)).toEqual([])
})
