// A run acts for the principal that requested it, with the rights of now, and within its tenant.
import { expect, test } from 'vitest'
import type { StoredPrincipal } from '../../../daemon/kernel/identity/stored-principal.ts'
import { extract } from '../../../daemon/roles/resolution/fusion/extract.ts'
import { match } from '../../../daemon/roles/resolution/fusion/match.ts'
import { cancel } from '../../../daemon/roles/resolution/fusion-run/cancel.ts'
import { fusionRuns } from '../../../daemon/roles/resolution/fusion-run/model.ts'
import { start } from '../../../daemon/roles/resolution/fusion-run/start.ts'
import { status } from '../../../daemon/roles/resolution/fusion-run/status.ts'
import { create } from '../../../daemon/roles/resolution/lens/create.ts'
import { revoke } from '../../../daemon/roles/site/token/revoke.ts'
import { readAuditEvents } from '../../support/site/read-audit-events.ts'
import { waitUntil } from '../../support/site/test-site.ts'
import { buildPeople, buildPersonLens, setUpResolutionSite, waitForRunEnd } from './resolution-site.ts'

const world = setUpResolutionSite({ inline_records: 5_000 })
const small = { lens_id: 'people', node_data: { east: buildPeople(0, 20), west: buildPeople(10, 30) } }
const large = { lens_id: 'people', node_data: { east: buildPeople(0, 5_000) } }

async function readPrincipal(run_id: string): Promise<StoredPrincipal | undefined> {
  return (await world().store('resolution').get(fusionRuns, run_id))?.value.job.principal
}

async function replacePrincipal(run_id: string, principal: Partial<StoredPrincipal>): Promise<void> {
  await world()
    .store('resolution')
    .update(fusionRuns, run_id, ({ value }) => ({
      next: { ...value, job: { ...value.job, principal: { ...value.job.principal, ...principal } as StoredPrincipal } },
      answer: undefined,
    }))
}

/** A person whose lens runs use; `queue` starts a run that waits behind a large one of another. */
async function queueRun(subject: string) {
  const person = await world().as({ subject })
  const other = await world().as({ subject: 'other' })
  await person.ok(create, { body: buildPersonLens() })
  const working = (await other.ok(start, large)).run_id
  const waiting = (await person.ok(start, { ...small, classification: 'SECRET' })).run_id
  expect((await person.ok(status, { run_id: waiting })).state).toBe('pending')
  return { other, working, waiting }
}

test('queued work of a revoked subject stops with the reason, and that of others goes on', async () => {
  const { other, working, waiting } = await queueRun('ann')
  const admin = await world().as({ subject: 'admin', roles: ['admin'] })
  await admin.ok(revoke, { subject: 'ann', reason: 'left the service' })
  const behind = (await other.ok(start, small)).run_id
  await other.ok(cancel, { run_id: working })
  expect(await waitForRunEnd(other, waiting)).toMatchObject({
    state: 'failed',
    failure: { code: 'forbidden', reason: 'ann was revoked after this work was requested' },
  })
  expect(await waitForRunEnd(other, behind)).toMatchObject({ state: 'completed' })
  const events = (await readAuditEvents(world(), 'resolution')).filter(({ target }) => target === waiting)
  expect(events.map(({ action }) => action)).toEqual(['resolution.fusion-run.start', 'resolution.fusion-run.failed'])
})

test.each<[string, Partial<StoredPrincipal>, RegExp]>([
  ['has lost every role', { roles: [] }, /has no permission resolution:write any more/],
  ['has a role that the site does not know', { roles: ['ghost'] }, /has no permission resolution:write any more/],
  ['was altered to another tenant', { tenant_id: 'tenant-b' }, /another tenant than its principal/],
  ['was altered to every tenant', { tenant_id: '*' }, /another tenant than its principal/],
  ['may not see the run', { clearance: undefined }, /may no longer see/],
])('a queued run whose principal %s fails', async (_, principal, reason) => {
  const { other, working, waiting } = await queueRun('bob')
  await replacePrincipal(waiting, principal)
  await other.ok(cancel, { run_id: working })
  expect(await waitForRunEnd(other, waiting)).toMatchObject({
    state: 'failed',
    failure: { code: 'forbidden', reason: expect.stringMatching(reason) },
  })
})

test('a phase acts for the person who requested it, and its audit records name the role as actor', async () => {
  const [cal, dee] = [await world().as({ subject: 'cal' }), await world().as({ subject: 'dee' })]
  await cal.ok(create, { body: buildPersonLens() })
  const { run_id } = await cal.ok(extract, small)
  await waitUntil(async () => (await cal.ok(status, { run_id })).state === 'extracted')
  await dee.ok(match, { run_id })
  await waitUntil(async () => (await cal.ok(status, { run_id })).state === 'matched')
  expect(await readPrincipal(run_id)).toMatchObject({ subject: 'dee', roles: ['analyst'] })
  const events = (await readAuditEvents(world(), 'resolution')).filter(({ target }) => target === run_id)
  expect(events.map(({ action, subject, actor }) => [action.split('.').at(-1), subject, actor])).toEqual([
    ['start', 'cal', undefined],
    ['extract-begun', 'cal', 'role:resolution'],
    ['extract-done', 'cal', 'role:resolution'],
    ['match', 'dee', undefined],
    ['match-begun', 'dee', 'role:resolution'],
    ['match-done', 'dee', 'role:resolution'],
  ])
})

test('no answer shows the stored principal', async () => {
  const eve = await world().as({ subject: 'eve' })
  await eve.ok(create, { body: buildPersonLens() })
  const { run_id } = await eve.ok(start, small)
  const run = await waitForRunEnd(eve, run_id)
  expect(Object.keys(run)).not.toContain('job')
  expect(JSON.stringify(run)).not.toContain('stored_ts')
})
