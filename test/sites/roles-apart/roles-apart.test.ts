// One site as two processes: consensus reaches the site role over its local socket, and outlives its absence.
import { describe, expect } from 'vitest'
import { type AuditEvent, auditRecord } from '../../../daemon/kernel/audit/audit-chain.ts'
import { cancel } from '../../../daemon/roles/consensus/session/cancel.ts'
import { create } from '../../../daemon/roles/consensus/session/create.ts'
import { list as listSessions } from '../../../daemon/roles/consensus/session/list.ts'
import { list as listChannels } from '../../../daemon/roles/site/channel/list.ts'
import { revoke } from '../../../daemon/roles/site/token/revoke.ts'
import { carryParcels } from '../../support/site/courier.ts'
import type { RunningDaemon } from '../../support/site/daemon-process.ts'
import { editProfile, type FederatedSite } from '../../support/site/packaged-federation.ts'
import { createPackagedPairTest } from '../../support/site/packaged-pair-test.ts'
import {
  carryUntil,
  contributeOpinion,
  expectSharedEvidence,
  findChannel,
  findSession,
  openInvitedSession,
  type PackagedSitePair,
  sharedClassification,
  waitForState,
  waitUntilDelivered,
} from '../../support/site/packaged-site-pair.ts'
import { waitUntil } from '../../support/site/test-site.ts'
import { sampleTrace } from '../../support/trace/sample-trace.ts'

const test = createPackagedPairTest({ isStarted: false })

let site: RunningDaemon
let consensus: RunningDaemon
test.beforeAll(async ({ pair }) => {
  editProfile(pair.alpha, { platform: { roles: ['site', 'consensus'] } })
  const started = await Promise.all([pair.alpha.start('site'), pair.alpha.start('consensus'), pair.bravo.start()])
  site = started[0]
  consensus = started[1]
})

/** All that both roles recorded, by their databases. */
async function listEvents(site: FederatedSite): Promise<AuditEvent[]> {
  const { stdout } = await site.run(['audit', 'export'])
  const records = stdout.trimEnd().split('\n')
  return records.flatMap((record) => auditRecord.safeParse(JSON.parse(record)).data?.event ?? [])
}

const localSession = { lens_id: 'l', lens_version: '1', policy: { m: 2, n: 2 }, classification: sharedClassification }

test('they are two processes, and together they carry a session to its end', async ({ pair }) => {
  expect(site.pid).not.toBe(consensus.pid)
  await expectSharedEvidence(pair)
})

test.for([
  ['two processes', 'alpha', 'contribution', 'consensus.session.contribute'],
  ['one', 'bravo', 'invitation', 'consensus.federation.invite'],
] as const)('in %s, what both roles record of a message bears one trace', async ([, name, kind, action], { pair }) => {
  await waitUntil(async () => {
    const events = await listEvents(pair[name])
    const applied = events.filter((event) => event.action === 'filedrop.message.applied' && event.detail.kind === kind)
    const caused = events.filter((event) => event.action === action)
    return applied.length > 0 && applied.every(({ trace_id }) => caused.some((event) => event.trace_id === trace_id))
  })
})

test('records a client’s request in its trace', async ({ pair }) => {
  const traceparent = `00-${sampleTrace.trace_id}-${sampleTrace.span_id}-01`
  const { id } = await pair.atAlpha.ok(create, localSession, { traceparent })
  const events = await listEvents(pair.alpha)
  expect(events.filter(({ target }) => target === id)).toMatchObject([{ trace_id: sampleTrace.trace_id }])
})

test.for([
  ['the site role', ['site']],
  ['consensus', ['consensus']],
  ['everything', []],
] as const)('a second owner of %s does not start', async ([, roles], { pair }) => {
  const { exit, stdout, stderr } = await pair.alpha.run(['serve', ...roles])
  expect({ exit, stdout }).toEqual({ exit: 3, stdout: '' })
  expect(stderr).toMatch(/the role (site|consensus) of this site runs already in another process/)
  expect((await pair.atAlpha.call(listSessions, {})).status).toBe(200)
  expect((await pair.atAlpha.call(listChannels, {})).status).toBe(200)
})

describe('while the site role is away', () => {
  let decided: string
  let withdrawn: string
  test.beforeAll(async ({ pair }) => {
    withdrawn = await openInvitedSession(pair.atAlpha, 0.94)
    await carryUntil(pair.toBravo, () => findSession(pair.atBravo, withdrawn))
    expect(await site.stop()).toBe(0)
  })

  test('opinions are taken and decided on; the evidence waits to be signed', async ({ pair }) => {
    const { atAlpha } = pair
    decided = (await atAlpha.ok(create, localSession)).id
    await contributeOpinion(atAlpha, decided, 'alice', 0.94)
    expect(await contributeOpinion(atAlpha, decided, 'bob', 0.92)).toMatchObject({ state: 'RATIFIED', undelivered: 1 })
    await waitUntil(() => consensus.log().includes('consensus.session.undelivered'))
    expect(await findSession(atAlpha, decided)).not.toHaveProperty('evidence_block_id')
  })

  test('refuses a session that needs a question to a peer, and leaves nothing of it', async ({ pair }) => {
    const { atAlpha } = pair
    const before = await atAlpha.ok(listSessions, {})
    const { status, problem } = await atAlpha.call(create, { ...localSession, invite: ['bravo'] })
    expect([status, problem?.code]).toEqual([503, 'unavailable'])
    expect(await atAlpha.ok(listSessions, {})).toEqual(before)
  })

  test('keeps the messages pending for a peer', async ({ pair }) => {
    expect(await pair.atAlpha.ok(cancel, { id: withdrawn })).toMatchObject({ state: 'WITHDRAWN', undelivered: 1 })
    expect(carryParcels(pair.toBravo)).toEqual([])
  })

  test('once it is back, the evidence is signed and the peer is notified', async ({ pair }) => {
    const { alpha, atAlpha, atBravo, toBravo } = pair
    site = await alpha.start('site')
    const { evidence_block_id } = await waitUntilDelivered(atAlpha, decided)
    expect(evidence_block_id).toMatch(/^[0-9a-f]{64}$/)
    await carryUntil(toBravo, async () => (await findSession(atBravo, withdrawn))?.state === 'WITHDRAWN')
  })
})

test('while consensus is away, messages wait where they are; once it is back, they are applied', async ({ pair }) => {
  const { alpha, atAlpha, atBravo, toBravo, toAlpha } = pair
  const id = await openInvitedSession(atAlpha, 0.94)
  await carryUntil(toBravo, () => findSession(atBravo, id))
  await consensus.kill()
  await contributeOpinion(atBravo, id, 'bob', 0.92)
  await waitUntil(() => carryParcels(toAlpha).length > 0)
  const paused = await waitUntil(async () => {
    const channel = await findChannel(atAlpha, 'bravo', 'in')
    return channel.detail.includes('intake pauses') && channel.backlog === 1 && channel
  })
  expect(paused).toMatchObject({ state: 'open', quarantined: 0 })
  consensus = await alpha.start('consensus')
  expect(await waitForState(atAlpha, id, 'RATIFIED')).toMatchObject({ contributions: 2 })
  await waitUntil(async () => (await findChannel(atAlpha, 'bravo', 'in')).detail === '')
})

describe('a token that is revoked is refused by both processes with the next request', () => {
  const statuses = async (person: PackagedSitePair['atAlpha']) => [
    (await person.call(listSessions, {})).status,
    (await person.call(listChannels, {})).status,
  ]

  test('by the command line, all that a subject holds', async ({ pair }) => {
    const { alpha } = pair
    const [eve, adam] = await Promise.all([alpha.as('eve', ['operator']), alpha.as('adam', ['operator'])])
    expect([await statuses(eve), await statuses(adam)]).toEqual([
      [200, 200],
      [200, 200],
    ])
    await alpha.runJson(['token', 'revoke', '--subject', 'eve', '--reason', 'laptop lost'])
    expect([await statuses(eve), await statuses(adam)]).toEqual([
      [401, 401],
      [200, 200],
    ])
  })

  test('by the service, one token of several', async ({ pair }) => {
    const { alpha, atAlpha } = pair
    const [lost, other] = await Promise.all([alpha.as('ruth', ['operator']), alpha.as('ruth', ['operator'])])
    expect([await statuses(lost), await statuses(other)]).toEqual([
      [200, 200],
      [200, 200],
    ])
    const { jti } = JSON.parse(Buffer.from(lost.token.split('.')[1] ?? '', 'base64url').toString('utf8'))
    await atAlpha.ok(revoke, { jti, reason: 'copied' })
    expect([await statuses(lost), await statuses(other)]).toEqual([
      [401, 401],
      [200, 200],
    ])
  })

  test('and still after both have started again', async ({ pair }) => {
    const { alpha } = pair
    const gone = await alpha.as('seth', ['operator'])
    await alpha.runJson(['token', 'revoke', '--subject', 'seth'])
    await Promise.all([site.stop(), consensus.stop()])
    const [one, other] = await Promise.all([alpha.start('site'), alpha.start('consensus')])
    site = one
    consensus = other
    expect(await statuses(gone)).toEqual([401, 401])
  })
})

test('orderly stops end with 0, and the records are whole', async ({ pair }) => {
  expect(await Promise.all([site.stop(), consensus.stop()])).toEqual([0, 0])
  expect(await pair.alpha.runJson(['audit', 'verify'])).toMatchObject({ whole: true })
})
