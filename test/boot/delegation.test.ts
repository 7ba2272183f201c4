// Delegation over roles in two processes, which meet at their sockets, and for a caller with a certificate.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type RunningSite, serve } from '../../daemon/boot/serve.ts'
import { isRefusal } from '../../daemon/kernel/error/errors.ts'
import { parseWithSchema } from '../../daemon/kernel/error/parsing.ts'
import type { DelegatingCredential } from '../../daemon/kernel/identity/delegation.ts'
import { wakeJob } from '../../daemon/kernel/job/rules.ts'
import { identitySettings } from '../../daemon/kernel/settings/platform-settings.ts'
import { extract } from '../../daemon/roles/resolution/fusion/extract.ts'
import { fusionRuns } from '../../daemon/roles/resolution/fusion-run/model.ts'
import { status } from '../../daemon/roles/resolution/fusion-run/status.ts'
import { create } from '../../daemon/roles/resolution/lens/create.ts'
import { openSession } from '../../daemon/shared/match-session/match-session.ts'
import { buildPeople, buildPersonLens } from '../roles/resolution/resolution-site.ts'
import { accept, grantOf, sampleWork } from '../support/delegation/delegation-answers.ts'
import { sendHttpRequest } from '../support/http/send-http-request.ts'
import { opensslAuthority } from '../support/keys/openssl-authority.ts'
import { requires } from '../support/runner/requires.ts'
import { createTestSite, startTestSite, waitUntil } from '../support/site/test-site.ts'
import { sampleTrace } from '../support/trace/sample-trace.ts'

const session = {
  ...{ id: `ses_${'1'.repeat(32)}`, tenant_id: 'tenant-a', lens_id: 'people', lens_version: '1' },
  label: { policy: 'SITE', level: 'UNCLASSIFIED', categories: [], originator: 'tenant-a' },
  subject: { kind: 'entity_match', left: 'a', right: 'b' },
  policy: { m: 1, n: 1 },
}

test('roles in two processes act for the caller over their sockets, and are refused there as in one', async () => {
  const profile = { platform: { roles: ['site', 'resolution', 'consensus'] }, resolution: { port: 0 } }
  const world = await createTestSite({ profile })
  const running: RunningSite[] = []
  onTestFinished(async () => {
    for (const process of running.toReversed()) await process.stop()
    await world.end()
  })
  const log = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined }
  const options = { folder: world.folder, env: {}, clock: world.clock, log }
  for (const roles of [['site', 'consensus'], ['resolution']]) running.push(await serve({ ...options, roles }))
  const [resolution] = running[1]?.services ?? []
  const actAs = (credential: DelegatingCredential) => {
    if (!resolution) throw new Error('resolution does not run')
    return resolution.context.delegation(sampleTrace, credential)
  }
  const analyst = actAs({ subject_token: await world.token({ subject: 'ann', roles: ['analyst'] }) })
  const stored = accept(await analyst.store(sampleWork))
  expect(await actAs(grantOf(stored)).roles.request(openSession, session)).toMatchObject({ id: session.id })
  const auditor = actAs({ subject_token: await world.token({ subject: 'bob', roles: ['auditor'] }) })
  const refused = await auditor.roles.request(openSession, session)
  expect(isRefusal(refused) && refused.message).toMatch(/requires the permission consensus:open/)
  await running.shift()?.stop()
  await expect(analyst.principal()).rejects.toMatchObject({ code: 'unavailable' })
})

test('work is put off while role site is away, and no request that needs it is accepted', async () => {
  const profile = { platform: { roles: ['site', 'resolution', 'consensus'] }, resolution: { port: 0 } }
  const world = await startTestSite({ profile })
  const running: RunningSite[] = []
  onTestFinished(async () => {
    for (const process of running.toReversed()) await process.stop()
    await world.end()
  })
  const ann = await world.as()
  await ann.ok(create, { body: buildPersonLens() })
  const { run_id } = await ann.ok(extract, { lens_id: 'people', node_data: { east: buildPeople(0, 20) } })
  await waitUntil(async () => (await ann.ok(status, { run_id })).state === 'extracted')
  await world.stop()
  const log = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined }
  const options = { folder: world.folder, env: {}, clock: world.clock, log }
  running.push(await serve({ ...options, roles: ['resolution'] }))
  const [resolution] = running[0]?.services ?? []
  if (!resolution) throw new Error('resolution does not run')
  const { store } = resolution.context
  const url = resolution.urls.find((each) => each.startsWith('http')) ?? ''
  const requested = await sendHttpRequest(url, 'POST', `/api/v2/fusion/match/${run_id}`, {}, { token: ann.token })
  expect(requested).toMatchObject({ status: 503, json: { code: 'unavailable' } })
  await store.update(fusionRuns, run_id, ({ value }) => ({
    next: wakeJob({ ...value, goal: 'matched' as const }, world.clock.now()),
    answer: undefined,
  }))
  resolution.wake('jobs')
  const readRun = async () => (await store.get(fusionRuns, run_id))?.value
  const delayed = await waitUntil(async () => {
    const run = await readRun()
    return run?.job.failures === 1 && run
  })
  expect(delayed).toMatchObject({ state: 'extracted', job: { state: 'waiting', failure: { code: 'unavailable' } } })
  running.push(await serve({ ...options, roles: ['site', 'consensus'] }))
  world.clock.advance(1_000)
  resolution.wake('jobs')
  await waitUntil(async () => (await readRun())?.state === 'matched')
})

describe('a caller with a certificate', () => {
  requires('openssl')('is who the table says, now and later', async () => {
    const dir = mkdtempSync(path.join(tmpdir(), 'delegation-'))
    onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
    const now = Date.parse('2026-03-02T12:00:00Z')
    const root = opensslAuthority(dir, 'root', now)
    const issueFor = (name: string) =>
      root.issue({
        subject: `/CN=${name}`,
        extensions: [
          'basicConstraints=CA:FALSE',
          'extendedKeyUsage=clientAuth',
          `subjectAltName=URI:urn:example:${name}`,
        ],
      }).der
    const ca_file = path.join(dir, 'ca.pem')
    writeFileSync(ca_file, root.cert, { mode: 0o600 })
    const subjects = [
      {
        uri: 'urn:example:ada',
        subject: 'ada',
        tenant_id: 'tenant-a',
        roles: ['analyst'],
        clearance: { level: 'SECRET' },
      },
    ]
    const profile = {
      platform: { roles: ['site', 'resolution', 'consensus'] },
      resolution: { port: 0 },
      x509: { ca_file, subjects },
    }
    const world = await startTestSite({ profile })
    onTestFinished(() => world.end())
    const stored = accept(await world.delegation('resolution', { certificate: issueFor('ada') }).store(sampleWork))
    const ada = {
      subject: 'ada',
      tenant_id: 'tenant-a',
      roles: ['analyst'],
      clearance: { level: 'SECRET', categories: [] },
    }
    expect(stored).toMatchObject(ada)
    expect(await world.delegation('resolution', grantOf(stored)).principal()).toEqual(ada)
    const stranger = await world.delegation('resolution', { certificate: issueFor('eve') }).store(sampleWork)
    expect(isRefusal(stranger) && stranger.message).toMatch(/not valid/)
    const garbage = await world
      .delegation('resolution', { certificate: Buffer.from('no certificate') })
      .store(sampleWork)
    expect(isRefusal(garbage) && garbage.message).toMatch(/not valid/)
  })
})

describe('the profile', () => {
  const read = (identity: unknown) => {
    const parsed = parseWithSchema(identitySettings.schema, identity)
    return parsed.success ? [] : parsed.errors.map(({ message }) => message)
  }

  test('names no audience like a site or a role, whose tokens would count here', () => {
    expect(read({ audiences: { airflow: ['resolution'] } })).toEqual([])
    for (const audience of ['urn:platform:site:alpha', 'urn:platform:site:alpha:role:site', 'urn:platform:x'])
      expect(read({ audiences: { [audience]: ['resolution'] } }).join()).toMatch(/must not begin with urn:platform:/)
  })

  test('names no client like a role', () => {
    const client = { client_id: 'x', secret_file: 'x', subject: 'role:site' }
    expect(read({ clients: [client] }).join()).toMatch(/must not begin with role:/)
  })
})
