// Events of the site itself: a session in conflict, a message in quarantine and a stale channel each raise one signal.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { emission } from '../../../daemon/roles/consensus/federation/emission.ts'
import { attest } from '../../../daemon/roles/consensus/session/attest.ts'
import { contribute } from '../../../daemon/roles/consensus/session/contribute.ts'
import { resolve } from '../../../daemon/roles/consensus/session/resolve.ts'
import { list } from '../../../daemon/roles/intelligence/signal/list.ts'
import { raiseCause } from '../../../daemon/roles/intelligence/signal-intake/cause.ts'
import {
  causeOfQuarantine,
  causeOfStaleChannel,
} from '../../../daemon/roles/intelligence/signal-intake/site-cause/rules.ts'
import { type TestSite, waitUntil } from '../../support/site/test-site.ts'
import {
  buildOpinionInput,
  createOperator,
  openSession,
  startConsensusSite,
  waitUntilDelivered,
} from '../consensus/consensus-site.ts'
import { createCarrier } from '../consensus/federated-session.ts'
import { createPeerSite } from '../consensus/peer-site.ts'
import { listSignals } from './intake-sender.ts'

const bravo = await createPeerSite('bravo', 'tenant-b')
const charlie = await createPeerSite('charlie', 'tenant-c')

let world: TestSite
beforeAll(async () => {
  const intelligence = { platform: { roles: ['site', 'consensus', 'intelligence'] }, intelligence: { port: 0 } }
  const intake = { within_every_s: 1, conflict: { severity: 'critical', classification: 'RESTRICTED' } }
  world = await startConsensusSite({
    ...{ contributors: ['a', 'b'], peers: [bravo.pinned, charlie.pinned] },
    profile: {
      ...intelligence,
      intake: { ...intake, peer_decision: { severity: 'high', rules: [{ peer: 'bravo' }] } },
    },
  })
})
afterAll(async () => {
  await world?.end()
  bravo.remove()
  charlie.remove()
  expect(world?.loggedErrors ?? []).toEqual([])
})

/** Looks until it holds; each look of the role is another second of the site's clock. */
function waitAdvancing<T>(look: () => Promise<T | undefined | false>): Promise<T> {
  return waitUntil(async () => {
    world.clock.advance(2_000)
    world.wakeWorker('intelligence', 'within')
    return look()
  })
}

async function createConflict(classification?: string): Promise<string> {
  const olga = await createOperator(world)
  const { id } = await openSession(olga, { m: 2, n: 2 }, classification)
  await olga.ok(contribute, { id, ...buildOpinionInput('a', 1) })
  await olga.ok(contribute, { id, ...buildOpinionInput('b', 0) })
  await waitUntilDelivered(olga, id)
  return id
}

const listSignalsAbout = async (subject_id: string) => listSignals(world, { subject_id })
const waitForSignal = (id: string) =>
  waitAdvancing(async () => ((await listSignalsAbout(id)).length > 0 ? listSignalsAbout(id) : undefined))

describe('a session in conflict', () => {
  test('raises one signal, under the join of its label with that of the profile, as the profile grades it', async () => {
    const id = await createConflict('SECRET')
    const [signal] = await waitForSignal(id)
    expect(signal).toMatchObject({
      signal_type: 'conflict',
      severity: 'critical',
      source: { type: 'internal', name: 'conflict' },
      actor: { type: 'service', id: 'site', name: 'alpha' },
      classification: { level: 'SECRET' },
      subject: { type: 'event', id },
      tenant_id: 'tenant-a',
    })
    const low = await world.as({ subject: 'lou', clearance: { level: 'RESTRICTED' } })
    expect((await low.ok(list, { subject_id: id })).items).toEqual([])
  })

  test('raises no second one when its dissent is renewed, it is settled, or the site is started again', async () => {
    const id = await createConflict()
    await waitForSignal(id)
    const olga = await createOperator(world)
    await olga.ok(resolve, { id })
    await olga.ok(attest, { id, decision: 'match', rationale: 'seen' })
    await waitUntilDelivered(olga, id)
    await world.restart()
    await waitForSignal(await createConflict())
    expect(await listSignalsAbout(id)).toHaveLength(1)
    expect((await listSignalsAbout(id))[0]?.classification.level).toBe('RESTRICTED')
  })

  test('reports a stale channel that began and ended between two looks', async () => {
    const id = await createConflict()
    const olga = await createOperator(world)
    await olga.ok(attest, { id, decision: 'match', rationale: 'seen' })
    expect(await waitForSignal(id)).toHaveLength(1)
  })
})

describe('a decision of a peer', () => {
  const decide = async (session_id: string, peer = bravo, more = {}) => {
    const decided = {
      ...{
        event: 'ratified',
        session_id,
        seq: 5,
        at: '2026-03-02T11:00:00.000Z',
        lens_id: 'vessels',
        lens_version: '2',
      },
      ...{ decision: 'match', score: 0.93, attested: false, ...more },
    }
    await (await createCarrier(world)).ok(emission, await peer.message('lens_emission', decided))
  }
  const sessionOf = (digit: string) => `ses_${digit.repeat(32)}`

  test('raises a signal by the rule of the profile, and its retraction another', async () => {
    await decide(sessionOf('1'))
    const id = `${sessionOf('1')}@bravo`
    expect(await waitForSignal(id)).toMatchObject([
      { signal_type: 'peer_decision', severity: 'high', title: 'bravo decided: match', subject: { type: 'event', id } },
    ])
    await decide(sessionOf('1'), bravo, { event: 'retracted', seq: 7 })
    await waitAdvancing(async () => (await listSignalsAbout(id)).length === 2)
    await world.restart()
    await decide(sessionOf('2'))
    await waitForSignal(`${sessionOf('2')}@bravo`)
    expect(await listSignalsAbout(id)).toHaveLength(2)
  })

  test('raises none where no rule names the peer', async () => {
    await decide(sessionOf('3'), charlie)
    await decide(sessionOf('4'))
    await waitForSignal(`${sessionOf('4')}@bravo`)
    expect(await listSignalsAbout(`${sessionOf('3')}@charlie`)).toEqual([])
  })
})

test('reports a failing pipeline once for each run, within the own tenant', async () => {
  const alert = {
    kind: 'failed_pipeline' as const,
    key: 'run-1',
    tenant_id: 'tenant-a',
    subject: { type: 'dataset' as const, id: 'orders', name: 'Orders' },
    title: 'The pipeline orders failed',
  }
  const ingest = await world.as({ subject: 'ingest', roles: ['service'] })
  const first = await ingest.ok(raiseCause, alert)
  expect(first).toMatchObject({ raised: true })
  expect(await ingest.ok(raiseCause, alert)).toEqual(first)
  expect((await ingest.ok(raiseCause, { ...alert, key: 'run-2' })).uid).not.toBe(first.uid)
  const olga = await createOperator(world)
  // Nobody takes the place of a run that is still to fail.
  expect((await olga.ok(raiseCause, { ...alert, key: 'run-2' })).uid).not.toBe(
    (await ingest.ok(raiseCause, { ...alert, key: 'run-2' })).uid,
  )
  expect(await olga.refusal(raiseCause, { ...alert, tenant_id: 'tenant-b' })).toBe('not_your_tenant')
  // Only a notice has a severity of its own.
  expect(await olga.refusal(raiseCause, { ...alert, severity: 'critical' })).toBe('invalid')
  expect(await (await world.as()).refusal(raiseCause, alert)).toBe('forbidden')
})

describe('one occurrence', () => {
  const channel = { peer: 'bravo', direction: 'in' as const, stale: true, epoch: 1, highest_seq: 7, received: 7 }
  const keyOf = (more: object) => causeOfStaleChannel({ ...channel, ...more }, 't')?.key

  test('of silence lasts until something comes', () => {
    expect(keyOf({ stale: false })).toBeUndefined()
    expect(keyOf({})).toBe(keyOf({}))
    const later = [
      { highest_seq: 8 },
      { received: 8 },
      { epoch: 2 },
      { inventory_at: '2026-03-02T12:00:00.000Z' },
      { peer: 'c' },
    ]
    expect(new Set([{}, ...later].map(keyOf))).toHaveProperty('size', 1 + later.length)
  })

  test('of quarantine is the item and when it was put there', () => {
    const item = { id: 'bravo/x', peer: 'bravo', reason: 'EXPIRED', at: '2026-03-02T12:00:00.000Z' }
    expect(causeOfQuarantine(item, 't').key).not.toBe(
      causeOfQuarantine({ ...item, at: '2026-03-02T13:00:00.000Z' }, 't').key,
    )
  })
})
