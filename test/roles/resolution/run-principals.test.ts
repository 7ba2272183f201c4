// A run acts for the principal that requested it, with the rights of now, and within its tenant.
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { wakeJob } from '../../../daemon/kernel/job/rules.ts'
import { extract } from '../../../daemon/roles/resolution/fusion/extract.ts'
import { match } from '../../../daemon/roles/resolution/fusion/match.ts'
import { resolve } from '../../../daemon/roles/resolution/fusion/resolve.ts'
import { cancel } from '../../../daemon/roles/resolution/fusion-run/cancel.ts'
import { fusionRuns, type StoredRun } from '../../../daemon/roles/resolution/fusion-run/model.ts'
import { start } from '../../../daemon/roles/resolution/fusion-run/start.ts'
import { status } from '../../../daemon/roles/resolution/fusion-run/status.ts'
import { create } from '../../../daemon/roles/resolution/lens/create.ts'
import { revoke } from '../../../daemon/roles/site/token/revoke.ts'
import { providerAudience, startRecordingProvider } from '../../support/http/recording-provider.ts'
import { readAuditEvents } from '../../support/site/read-audit-events.ts'
import { restartWith } from '../../support/site/restart-with.ts'
import { listUselessGrants, replacePrincipal as replaceStored } from '../../support/site/stored-principals.ts'
import { startTestSite, type TestSite, waitUntil } from '../../support/site/test-site.ts'
import { buildPeople, buildPersonLens, setUpResolutionSite, waitForRunEnd } from './resolution-site.ts'

const world = setUpResolutionSite({ inline_records: 5_000 })
const small = { lens_id: 'people', node_data: { east: buildPeople(0, 20), west: buildPeople(10, 30) } }
const large = { lens_id: 'people', node_data: { east: buildPeople(0, 5_000) } }

async function readPrincipal(run_id: string) {
  return (await world().store('resolution').get(fusionRuns, run_id))?.value.job.principal
}

const replacePrincipal = (id: string, changes: Parameters<typeof replaceStored>[3]) =>
  replaceStored(world(), 'resolution', { collection: fusionRuns, id }, changes)

/** A person whose lens runs use; `queue` starts a run that waits behind a large one of another. */
async function queueRun(subject: string) {
  const person = await world().as({ subject })
  const other = await world().as({ subject: 'other' })
  await person.ok(create, { body: buildPersonLens() })
  const working = (await other.ok(start, large)).run_id
  const waiting = (await person.ok(start, { ...small, classification: 'SECRET' })).run_id
  expect((await person.ok(status, { run_id: waiting })).state).toBe('pending')
  return { person, other, working, waiting }
}

test.each(['subject', 'token'] as const)(
  'queued work of a revoked %s stops with the reason, and that of others goes on',
  async (revoked) => {
    const { person, other, working, waiting } = await queueRun(`ann-${revoked}`)
    const admin = await world().as({ subject: 'admin', roles: ['admin'] })
    const { jti } = JSON.parse(Buffer.from(person.token.split('.')[1] ?? '', 'base64url').toString())
    const target = revoked === 'token' ? { jti } : { subject: `ann-${revoked}` }
    await admin.ok(revoke, { ...target, reason: 'left the service' })
    const behind = (await other.ok(start, small)).run_id
    await other.ok(cancel, { run_id: working })
    expect(await waitForRunEnd(other, waiting)).toMatchObject({
      state: 'failed',
      failure: {
        code: 'forbidden',
        reason: 'the principal of the stored work was revoked, or the token with which it was stored',
      },
    })
    expect(await waitForRunEnd(other, behind)).toMatchObject({ state: 'completed' })
    const events = (await readAuditEvents(world(), 'resolution')).filter(({ target: run }) => run === waiting)
    expect(events.map(({ action }) => action)).toEqual(['resolution.fusion-run.start', 'resolution.fusion-run.failed'])
  },
)

describe('a queued run fails whose grant', () => {
  const grants = listUselessGrants(world, 'resolution', 'resolution:write')
  test.each(grants)('%s', async (_, change, reason) => {
    const { other, working, waiting } = await queueRun('bob')
    await replacePrincipal(waiting, await change({ collection: fusionRuns.name, id: waiting }))
    await other.ok(cancel, { run_id: working })
    expect(await waitForRunEnd(other, waiting)).toMatchObject({
      state: 'failed',
      failure: { code: 'forbidden', reason: expect.stringMatching(reason) },
    })
  })
})

test('fields beside the grant decide nothing', async () => {
  const { other, working, waiting } = await queueRun('bob')
  await replacePrincipal(waiting, { subject: 'olga', tenant_id: '*', roles: ['admin'] })
  await other.ok(cancel, { run_id: working })
  expect(await waitForRunEnd(other, waiting)).toMatchObject({ state: 'completed' })
  const events = (await readAuditEvents(world(), 'resolution')).filter(({ target }) => target === waiting)
  expect([...new Set(events.map(({ subject }) => subject))]).toEqual(['bob'])
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

test('a request that changes nothing requests no grant', async () => {
  const flo = await world().as({ subject: 'flo' })
  await flo.ok(create, { body: buildPersonLens() })
  const { run_id } = await flo.ok(start, small, { 'idempotency-key': 'once' })
  await waitForRunEnd(flo, run_id)
  await flo.ok(start, small, { 'idempotency-key': 'once' })
  await flo.ok(resolve, { run_id })
  await flo.refusal(resolve, { run_id, threshold: 3 })
  const events = await readAuditEvents(world(), 'site')
  const grants = events.filter(({ action, target }) => action === 'site.delegation.grant' && target === 'flo')
  expect(grants).toHaveLength(1)
})

test('no answer shows the stored principal', async () => {
  const eve = await world().as({ subject: 'eve' })
  await eve.ok(create, { body: buildPersonLens() })
  const { run_id } = await eve.ok(extract, small)
  const run = await waitUntil(async () => {
    const found = await eve.ok(status, { run_id })
    return found.state === 'extracted' && found
  })
  expect(Object.keys(run)).not.toContain('job')
  expect((await readPrincipal(run_id))?.grant).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+$/)
  expect(JSON.stringify(run)).not.toContain((await readPrincipal(run_id))?.grant)
})

test('the grant goes with the end of the run, however it ends', async () => {
  const { person, other, working, waiting } = await queueRun('ida')
  await person.ok(cancel, { run_id: waiting })
  expect(await readPrincipal(waiting)).toMatchObject({ subject: 'ida' })
  expect(await readPrincipal(waiting)).not.toHaveProperty('grant')
  await other.ok(cancel, { run_id: working })
  const { run_id } = await person.ok(start, small)
  expect(await waitForRunEnd(person, run_id)).toMatchObject({ state: 'completed' })
  expect(await readPrincipal(run_id)).toMatchObject({ subject: 'ida' })
  expect(await readPrincipal(run_id)).not.toHaveProperty('grant')
})

/** Lets an extracted run go on, for the principal that it has. */
async function resumeRun(site: TestSite, run_id: string): Promise<void> {
  await site.store('resolution').update(fusionRuns, run_id, ({ value }) => ({
    next: wakeJob({ ...value, goal: 'matched' as const }, site.clock.now()),
    answer: undefined,
  }))
  site.wakeWorker('resolution', 'jobs')
}

async function readRun(site: TestSite, run_id: string): Promise<StoredRun> {
  const run = await site.store('resolution').get(fusionRuns, run_id)
  if (!run) throw new Error(`there is no run ${run_id}`)
  return run.value
}

describe('a run of a client of the site', () => {
  const nameClients = (clients: readonly Readonly<Record<string, unknown>>[]) => {
    const secret_file = path.join(world().folder.data, 'client.secret')
    writeFileSync(secret_file, 'a-secret-of-more-than-sixteen-characters', { mode: 0o600 })
    return { identity: { clients: clients.map((each) => ({ ...each, secret_file })) } }
  }

  /** The end of a run between whose phases the profile changes. */
  async function runClient(changed: Parameters<typeof nameClients>[0]) {
    await restartWith(world(), nameClients([{ client_id: 'etl', roles: ['analyst', 'auditor'] }]))
    const client = await world().as({ subject: 'etl', roles: ['analyst', 'auditor'] })
    await client.ok(create, { body: buildPersonLens() })
    const { run_id } = await client.ok(extract, small)
    await waitUntil(async () => (await client.ok(status, { run_id })).state === 'extracted')
    await restartWith(world(), nameClients(changed))
    await resumeRun(world(), run_id)
    return await waitUntil(async () => {
      const run = await readRun(world(), run_id)
      return ['matched', 'failed'].includes(run.state) && run
    })
  }

  test('fails once the profile does not name the client', async () => {
    expect(await runClient([])).toMatchObject({
      state: 'failed',
      failure: { code: 'forbidden', reason: 'the client etl is not in the profile of the site any more' },
    })
  })

  test('fails once its roles do not permit runs', async () => {
    expect(await runClient([{ client_id: 'etl', roles: ['auditor'] }])).toMatchObject({
      state: 'failed',
      failure: { code: 'forbidden', reason: 'etl has no permission resolution:write any more' },
    })
  })

  test('goes on with what is left of its roles', async () => {
    expect(await runClient([{ client_id: 'etl', roles: ['analyst'] }])).toMatchObject({ state: 'matched' })
  })
})

describe('a run of a caller of the identity provider', () => {
  test('fails once the role map gives the caller no role that permits runs', async () => {
    const provider = await startRecordingProvider()
    onTestFinished(() => provider.close())
    const sso = { issuer: provider.issuer, audience: providerAudience }
    const site = await startTestSite({
      profile: {
        platform: { roles: ['site', 'resolution'] },
        resolution: { port: 0 },
        identity: { provider: 'oidc' },
        sso: { ...sso, role_map: { examiner: ['analyst', 'auditor'] } },
      },
    })
    onTestFinished(() => site.end())
    const ann = await site.as()
    await ann.ok(create, { body: buildPersonLens() })
    const ada = await provider.sign(site.clock.now())
    const answer = await site.call('resolution', extract.method, extract.path ?? '', small, { token: ada })
    const { run_id } = extract.output.parse(answer.json)
    await waitUntil(async () => (await readRun(site, run_id)).state === 'extracted')
    await restartWith(site, { sso: { role_map: { examiner: ['auditor'] } } })
    await resumeRun(site, run_id)
    const run = await waitUntil(async () => {
      const found = await readRun(site, run_id)
      return found.state === 'failed' && found
    })
    expect(run.failure).toMatchObject({
      code: 'forbidden',
      reason: expect.stringMatching(/^\S+ has no permission resolution:write any more$/),
    })
    expect(site.loggedErrors).toEqual([])
  })
})
