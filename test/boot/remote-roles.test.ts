// A site on two machines, which share no folder: work crosses over TLS, in the name of the person who began it.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { connect } from 'node:tls'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { roleCertificateFile, tokenKeysFile } from '../../daemon/boot/storage/site-folder.ts'
import { isRefusal } from '../../daemon/kernel/error/errors.ts'
import { generateRoleKey } from '../../daemon/offline/keys/role-keys.ts'
import { deploy } from '../../daemon/roles/ingest/datapipeline/deploy.ts'
import { list as listPipelines } from '../../daemon/roles/ingest/datapipeline/list.ts'
import { list as listSignals } from '../../daemon/roles/intelligence/signal/list.ts'
import { list as listCheckpoints } from '../../daemon/roles/site/checkpoint/list.ts'
import { revoke } from '../../daemon/roles/site/token/revoke.ts'
import { findTaskDataset } from '../../daemon/shared/task-dataset/task-dataset.ts'
import { waitUntilDeployed, waitUntilRunOver } from '../roles/ingest/ingest-site.ts'
import { waitUntil } from '../support/site/test-site.ts'
import { createTwoMachines, type Machines } from '../support/site/two-machines.ts'
import { sampleTrace } from '../support/trace/sample-trace.ts'

const files = mkdtempSync(path.join(tmpdir(), 'remote-files-'))
const roles = { identity: { roles: { loader: ['ingest:*', 'health:read'] } } }
let machines: Machines
beforeAll(async () => {
  machines = await createTwoMachines(
    { home: ['site', 'intelligence', 'resolution'], away: ['ingest'] },
    {
      away: { ...roles, ingest: { data_folder: files } },
      home: roles,
      away_variables: { intelligence: 'INTELLIGENCE_URL', resolution: 'ENTITY_RESOLUTION_URL' },
    },
  )
  mkdirSync(path.join(files, machines.world.tenant))
  writeFileSync(path.join(files, machines.world.tenant, 'rows.csv'), 'a\n1\n')
  await machines.start('home')
  await machines.start('away')
  // No token is accepted there before the lists are fetched.
  const token = await machines.world.token()
  await waitUntil(
    async () => (await machines.call('ingest', 'GET', '/api/v1/dag', undefined, { token })).status === 200,
  )
})
afterAll(async () => {
  await machines?.end()
  rmSync(files, { recursive: true, force: true })
})

const read = { name: 'read', operator: 'ingest_file', params: { file: 'rows.csv' } }
const announce = {
  name: 'announce',
  operator: 'notify',
  params: { title: 'The rows are in' },
  after: ['read'],
  retries: 0,
}

async function runPipeline(dag_id: string, who = {}) {
  const person = await machines.as(who)
  const content = JSON.stringify({ format: 1, dag_id, tasks: [read, announce] })
  const { uid } = await person.ok(deploy, { dag_id, content, run_on_deploy: true })
  await waitUntilDeployed(person, uid)
  const { state } = await waitUntilRunOver(person, dag_id, 'deploy__1')
  const analyst = await machines.as()
  const list = async () => (await analyst.ok(listSignals, { subject_id: uid, limit: 9 })).items
  return { state, list, signals: (await list()).filter(({ signal_type }) => signal_type === 'notice') }
}

test('a role finds the site role on the other machine, and reports it in its health', async () => {
  const token = await machines.world.token({ roles: ['admin'] })
  const { text } = await machines.call('ingest', 'GET', '/health', undefined, { token })
  expect(JSON.parse(text)).toMatchObject({
    status: 'ok',
    dependencies: expect.arrayContaining([
      expect.objectContaining({ name: 'site', detail: 'ready on another machine' }),
    ]),
  })
})

test('a run of ingest raises its signal at intelligence, over the documented URL', async () => {
  const { state, signals } = await runPipeline('announced', { subject: 'ada' })
  expect(state).toBe('success')
  expect(signals).toMatchObject([{ signal_type: 'notice', title: 'The rows are in' }])
})

test('a person who may not write signals raises none there, and the role reports the failed run in its own name', async () => {
  const { list, ...run } = await runPipeline('loaded', { subject: 'lou', roles: ['loader'] })
  expect(run).toEqual({ state: 'failed', signals: [] })
  machines.service('ingest').wake('failure-signals')
  await waitUntil(async () => (await list()).some(({ created_by }) => created_by === 'site:failed_pipeline'))
})

test('the audit chain of the other machine is anchored by the site role', async () => {
  machines.service('ingest').wake('anchor')
  const auditor = await machines.as({ roles: ['auditor'] })
  const { items } = await waitUntil(async () => {
    const found = await auditor.ok(listCheckpoints, { writer: 'ingest@alpha' })
    return found.items.length > 0 && found
  })
  expect(items[0]).toMatchObject({ writer: 'ingest@alpha', signature: expect.anything() })
})

test('a role of the first machine requests one of the second, in the name of a person and with the rights of that person', async () => {
  const ask = async (who: object) => {
    const token = await machines.world.token(who)
    const { roles } = machines.service('resolution').context.delegation(sampleTrace, { subject_token: token })
    const found = await findTaskDataset({ roles }, { dag_id: 'announced', dag_run_id: 'deploy__1', task: 'read' })
    return isRefusal(found) ? found.code : found.name
  }
  expect(await ask({ subject: 'ada' })).toMatch(/\w/)
  expect(await ask({ roles: ['auditor'], tenant: 'tenant-b' })).toBe('not_found')
  expect(await ask({ roles: [] })).toBe('forbidden')
})

test('a revocation and a new key of a role reach the other machine', async () => {
  const eve = await machines.as({ subject: 'eve' })
  await eve.ok(listPipelines, {})
  const olga = await machines.as({ subject: 'olga', roles: ['admin'] })
  await olga.ok(revoke, { subject: 'eve', reason: 'test' })
  const { kid } = await generateRoleKey(machines.world.folder, 'resolution', { now: machines.world.clock.now() })
  await waitUntil(async () => {
    machines.service('ingest').wake('verification-lists')
    return (await eve.refusal(listPipelines, {})) === 'unauthenticated'
  })
  expect(readFileSync(tokenKeysFile(machines.folder), 'utf8')).toContain(kid)
})

test('another certificate in the file of a listener is shown to the connections that follow', async () => {
  const { port } = new URL(machines.plan.urls.site ?? '')
  const readSerial = async () => {
    const ca = machines.plan.authority.certificate
    const socket = connect({ host: '127.0.0.1', port: Number(port), ca, minVersion: 'TLSv1.3' })
    await new Promise((resolve, reject) => socket.once('secureConnect', resolve).once('error', reject))
    const { serialNumber } = socket.getPeerCertificate()
    socket.destroy()
    return serialNumber
  }
  const before = await readSerial()
  await machines.plan.issue('site')
  await waitUntil(async () => (await readSerial()) !== before)
  expect(readFileSync(roleCertificateFile(machines.world.folder, 'site'), 'utf8')).toContain('PRIVATE KEY')
})

test('while the other machine is away, requests are put off, and they go on once it is back', async () => {
  await machines.stop('home')
  const token = await machines.world.token()
  const dag = { dag_id: 'late', content: JSON.stringify({ format: 1, dag_id: 'late', tasks: [read] }) }
  const answer = await machines.call('ingest', 'POST', '/api/v1/datapipeline', dag, { token })
  expect(answer).toMatchObject({ status: 503, json: { code: 'unavailable' } })
  expect(answer.headers.get('retry-after')).toMatch(/^\d+$/)
  await machines.start('home')
  expect(await runPipeline('again', { subject: 'ada' })).toMatchObject({ state: 'success', signals: [{}] })
})
