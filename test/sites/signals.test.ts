// Two packaged sites: a signal crosses by file-drop into a site whose roles run apart, waits while its role is down, and is refused with the reason.
import * as fs from 'node:fs'
import path from 'node:path'
import { expect } from 'vitest'
import { create } from '../../daemon/roles/intelligence/signal/create.ts'
import { list } from '../../daemon/roles/intelligence/signal/list.ts'
import type { Signal } from '../../daemon/roles/intelligence/signal/model.ts'
import type { CheckedClient } from '../support/http/checked-client.ts'
import { carryParcels } from '../support/site/courier.ts'
import type { RunningDaemon } from '../support/site/daemon-process.ts'
import { editProfile, type FederatedSite } from '../support/site/packaged-federation.ts'
import { createPackagedPairTest } from '../support/site/packaged-pair-test.ts'
import { carryUntil } from '../support/site/packaged-site-pair.ts'
import { waitUntil } from '../support/site/test-site.ts'

const test = createPackagedPairTest({ isStarted: false })

let intelligence: RunningDaemon
let sentSignal: string
const releasable = { level: 'RESTRICTED', releasable_to: ['alpha', 'bravo'] }

test.beforeAll(async ({ pair }) => {
  const roles = { platform: { roles: ['site', 'intelligence'] }, intelligence: { port: 0 } }
  editProfile(pair.alpha, roles)
  editProfile(pair.bravo, { ...roles, intake: { within_every_s: 1 } })
  const started = await Promise.all([pair.alpha.start(), pair.bravo.start('site'), pair.bravo.start('intelligence')])
  intelligence = started[2]
})

async function raiseSignal(person: CheckedClient, title: string): Promise<string> {
  const made = await person.ok(create, {
    ...{ signal_type: 'watchlist_hit', source: { type: 'manual', name: 'desk' }, severity: 'high', title },
    subject: { type: 'asset', id: 'ship-1', name: 'Aurora' },
    ...{ detected_at: '2026-03-02T11:00:00.000Z', classification: releasable },
  })
  return made.uid
}

async function listTitled(person: CheckedClient, title: string): Promise<Signal[]> {
  return (await person.ok(list, { limit: 500 })).items.filter((signal) => signal.title === title)
}

function sendSignal(site: FederatedSite, uid: string) {
  return site.runJson(['signal', 'send', uid, '--peer', 'bravo'])
}

test('a signal crosses once, under its label, and bravo knows whose it is', async ({ pair }) => {
  const { alpha, atAlpha, atBravo, toBravo } = pair
  sentSignal = await raiseSignal(atAlpha, 'at anchor')
  for (let time = 0; time < 2; time++)
    expect(await sendSignal(alpha, sentSignal)).toMatchObject({ event_id: sentSignal, peer: 'bravo' })
  await carryUntil(toBravo, async () => (await listTitled(atBravo, 'at anchor')).length > 0)
  const [signal, ...more] = await listTitled(atBravo, 'at anchor')
  expect(more).toEqual([])
  expect(signal).toMatchObject({
    tenant_id: 'bravo',
    status: 'new',
    actor: { type: 'service', id: 'alpha' },
    classification: { level: 'RESTRICTED' },
    metadata: { received: { from: 'peer:alpha', as: sentSignal } },
  })
})

test('a signal that arrives while its role is down waits, and is taken once when it is back', async ({ pair }) => {
  const { alpha, bravo, atAlpha, atBravo, toBravo } = pair
  await intelligence.kill()
  await sendSignal(alpha, await raiseSignal(atAlpha, 'while it was down'))
  await waitUntil(async () => carryParcels(toBravo).length > 0)
  intelligence = await bravo.start('intelligence')
  await carryUntil(toBravo, async () => (await listTitled(atBravo, 'while it was down')).length === 1)
  expect(await listTitled(atBravo, 'at anchor')).toHaveLength(1)
})

test('quarantines an invalid signal with the reason, and raises one signal of bravo’s own', async ({ pair }) => {
  const { alpha, atBravo, bravo, toBravo, world } = pair
  const file = path.join(world.dir, 'no-signal.json')
  fs.writeFileSync(file, JSON.stringify({ event_id: 'x', title: 'about nothing' }))
  const words = ['filedrop', 'send', 'bravo', file, '--kind', 'signal', '--schema', 'signal/1']
  await alpha.runJson([...words, '--classification', 'RESTRICTED', '--releasable-to', 'alpha,bravo'])
  const raised = async () => (await atBravo.ok(list, { signal_type: 'quarantine', limit: 500 })).items
  await carryUntil(toBravo, async () => (await raised()).length > 0)
  await intelligence.stop()
  intelligence = await bravo.start('intelligence')
  // The role has looked again when it has raised what came later.
  fs.writeFileSync(file, JSON.stringify({ event_id: 'y', title: 'about nothing either' }))
  await alpha.runJson([...words, '--classification', 'RESTRICTED', '--releasable-to', 'alpha,bravo'])
  await carryUntil(toBravo, async () => (await raised()).length > 1)
  const found = await raised()
  expect(found).toHaveLength(2)
  expect(found[0]).toMatchObject({
    source: { type: 'internal', name: 'quarantine' },
    title: expect.stringContaining('alpha'),
  })
})

test('alpha refuses to send a signal that may not leave', async ({ pair }) => {
  const { alpha, atAlpha } = pair
  const { uid } = await atAlpha.ok(create, {
    ...{ signal_type: 't', source: { type: 'manual' }, severity: 'low', title: 'own', classification: 'RESTRICTED' },
    ...{ subject: { type: 'asset', id: 's', name: 's' }, detected_at: '2026-03-02T11:00:00.000Z' },
  })
  const refused = await alpha.run(['signal', 'send', uid, '--peer', 'bravo'])
  expect([refused.exit, refused.stderr]).toEqual([3, expect.stringContaining('bravo')])
})
