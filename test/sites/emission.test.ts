// Two daemons and a folder: analysts at bravo see decisions and withdrawals of alpha on a lens; others get nothing.
import * as fs from 'node:fs'
import path from 'node:path'
import { expect } from 'vitest'
import { parse, stringify } from 'yaml'
import { list } from '../../daemon/roles/consensus/emission/list.ts'
import { attest } from '../../daemon/roles/consensus/session/attest.ts'
import { cancel } from '../../daemon/roles/consensus/session/cancel.ts'
import type { CheckedClient } from '../support/http/checked-client.ts'
import { listQuarantined } from '../support/site/courier.ts'
import type { FederatedSite } from '../support/site/packaged-federation.ts'
import { createPackagedPairTest, findDaemon } from '../support/site/packaged-pair-test.ts'
import {
  carryUntil,
  contributeOpinion,
  findChannel,
  findSession,
  openInvitedSession,
  type PackagedSitePair,
  waitForState,
} from '../support/site/packaged-site-pair.ts'
import { waitUntil } from '../support/site/test-site.ts'

const test = createPackagedPairTest({
  prepare: ({ alpha, world }) => configureSinks(alpha, path.join(world.dir, 'hook-secret')),
})

let analyst: CheckedClient
test.beforeAll(async ({ pair }) => {
  analyst = await pair.bravo.as('ann', ['analyst'])
})

/** Two ways to bravo, and before them one to a webhook that nobody answers at. */
function configureSinks({ dir }: FederatedSite, secret_file: string): void {
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
async function decideSession(pair: PackagedSitePair, alice: number, bob: number): Promise<string> {
  const id = await openInvitedSession(pair.atAlpha, alice, [])
  await contributeOpinion(pair.atAlpha, id, 'bob', bob)
  return id
}

/** Carries until this many messages have come in at bravo's since the beginning, and nothing is on its way. */
async function carryUntilArrived(pair: PackagedSitePair, count: number): Promise<void> {
  await carryUntil(pair.toBravo, async () => (await findChannel(pair.atBravo, 'alpha', 'in')).received === count)
}

test('alpha ratifies and cancels; bravo lists the decision, then shows it withdrawn, with nothing in quarantine', async ({
  pair,
}) => {
  const { atAlpha, atBravo, toBravo } = pair
  const id = await decideSession(pair, 0.94, 0.92)
  const { evidence_block_id } = await waitUntil(async () => {
    const session = await findSession(atAlpha, id)
    return session?.evidence_block_id ? session : undefined
  })
  await carryUntilArrived(pair, 2)
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
  expect(await findSession(atBravo, id)).toBeUndefined()

  await atAlpha.ok(cancel, { id })
  await carryUntilArrived(pair, 4)
  const after = await analyst.ok(list, { session_id: id })
  expect(after.items).toMatchObject([{ id: `${id}@alpha`, status: 'withdrawn', decision: 'match', evidence_block_id }])
  expect((await analyst.ok(list, { status: 'standing' })).items).toEqual([])

  expect(listQuarantined(toBravo)).toEqual([])
  expect(await findChannel(atBravo, 'alpha', 'in')).toMatchObject({ quarantined: 0, gaps: 0, state: 'open' })
  // Both deliveries to the webhook are still pending.
  expect(await findSession(atAlpha, id)).toMatchObject({ state: 'WITHDRAWN', undelivered: 2, undeliverable: [] })
})

test('a decision that alpha was killed over is sent once it is back, and the command line lists it at bravo', async ({
  pair,
}) => {
  const { bravo, toBravo } = pair
  const id = await decideSession(pair, 0.95, 0.05)
  await waitForState(pair.atAlpha, id, 'IN_CONFLICT')
  await pair.atAlpha.ok(attest, { id, decision: 'non_match', rationale: 'seen alongside in harbour' })
  await findDaemon(pair, pair.alpha).kill()
  await pair.alpha.start()
  await carryUntil(toBravo, async () => (await analyst.ok(list, { session_id: id })).items.length === 1)
  const words = ['consensus', 'emissions', '--origin', 'alpha', '--status', 'standing']
  const { items } = await bravo.runJson(words)
  expect(items).toMatchObject([{ session_id: id, decision: 'non_match', attested: true }])
  const { exit, stdout } = await bravo.run(['consensus', 'emissions', '--session', id])
  expect([exit, stdout.split('\n')[1]]).toEqual([0, expect.stringMatching(new RegExp(`^alpha +${id} +standing`))])
  expect(listQuarantined(toBravo)).toEqual([])
})
