// Journey tests: hops over REST and MCP through the site's own roles, and verifications that hold or fail.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { GitObjects } from '../../../adapters/dag-repository/local/git-objects.ts'
import { errors } from '../../../daemon/roles/ingest/dag-run/errors.ts'
import { status as runStatus } from '../../../daemon/roles/ingest/dag-run/status.ts'
import { deploy } from '../../../daemon/roles/ingest/datapipeline/deploy.ts'
import { remove } from '../../../daemon/roles/ingest/datapipeline/remove.ts'
import { run as triggerRun } from '../../../daemon/roles/ingest/datapipeline/run.ts'
import { get as getSignal } from '../../../daemon/roles/intelligence/signal/get.ts'
import { findFreePortPairs } from '../../support/monitoring/free-port-pairs.ts'
import { readLanded, runFolder, setUpIngestSite, waitUntilDeployed, waitUntilRunOver } from './ingest-site.ts'

const folder = mkdtempSync(path.join(tmpdir(), 'journey-tests-'))
const authorization_file = path.join(folder, 'authorization')
const [port = 0] = await findFreePortPairs(1)
const url = `http://127.0.0.1:${port}`
const target = { name: 'signals', url, operator: 'test_call', authorization_file }

const site = setUpIngestSite(
  {
    trusted_networks: ['127.0.0.1'],
    http_targets: [
      target,
      { ...target, name: 'nobody', authorization_file: undefined },
      { ...target, name: 'secret', classification: 'SECRET' },
      { ...target, name: 'foreign', tenant_id: 'tenant-b' },
      { ...target, name: 'private', url: 'http://10.0.0.1:80' },
      { ...target, name: 'below', url: `${url}/api/v1` },
      { ...target, name: 'effects', operator: 'external_dispatch' },
      { ...target, name: 'small', max_bytes: 64 },
    ],
  },
  { profile: { platform: { roles: ['site', 'ingest', 'intelligence'] }, intelligence: { port } } },
)
beforeAll(async () => {
  const token = await site().token({ subject: 'tester', roles: ['analyst'], clearance: { level: 'UNCLASSIFIED' } })
  writeFileSync(authorization_file, `Bearer ${token}\n`, { mode: 0o600 })
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const raise = {
  name: 'raise',
  target: 'signals',
  rest: {
    method: 'POST',
    path: 'api/v1/signal',
    body: {
      ...{ schema_version: '1.1', signal_type: 'journey', source: { type: 'manual' }, severity: 'low' },
      ...{ title: 'Probe', subject: { type: 'asset', id: 'probe-1', name: 'Probe' } },
      detected_at: '2026-01-01T00:00:00Z',
    },
  },
  expect_status: 201,
}
const fromRaise = (at: string) => `$\{raise:${at}}`
const show = { name: 'show', target: 'signals', mcp: { tool: 'signal_get', arguments: { uid: fromRaise('uid') } } }
const read = { name: 'read', target: 'signals', rest: { path: `api/v1/signal/${fromRaise('/uid')}` } }

type JourneyEnd = {
  readonly uid: string
  readonly fault?: object | undefined
  readonly state?: string
  /** Logs of failed tasks. */
  readonly failed: Readonly<Record<string, string>>
}

async function runJourney(
  dag_id: string,
  hops: readonly object[],
  verifications: readonly object[],
): Promise<JourneyEnd> {
  const ann = await site().as()
  const content = JSON.stringify({ dag_id, hops, verifications })
  const { uid } = await ann.ok(deploy, { dag_id, content, pipeline_type: 'journey_test', run_on_deploy: true })
  const { status, fault } = await waitUntilDeployed(ann, uid)
  if (status === 'rejected') return { uid, fault, failed: {} }
  const { state } = await waitUntilRunOver(ann, dag_id, 'deploy__1')
  const { items } = await ann.ok(errors, { dag_id, dag_run_id: 'deploy__1' })
  return { uid, state, failed: Object.fromEntries(items.map(({ task_id, log }) => [task_id, log])) }
}

test('a journey goes through REST and MCP of the site, and its verifications hold', async () => {
  const { uid, state, failed } = await runJourney(
    'whole_journey',
    [
      raise,
      show,
      { ...read, until: { path: 'status', equals: 'new', within_s: 5 } },
      { name: 'listed', target: 'signals', rest: { path: 'api/v1/signal', query: { limit: 5 } } },
      { name: 'absent', target: 'signals', rest: { path: 'api/v1/signal/sig_000000000000' }, expect_status: 404 },
      { name: 'failing', target: 'below', rest: { path: 'signal/sig_000000000000' }, expect_status: 404 },
    ],
    [
      { hop: 'raise', status: 201, path: 'uid', matches: 'sig_????????????' },
      { name: 'is_new', hop: 'show', path: 'status', equals: 'new', not_equals: 'resolved' },
      { hop: 'show', path: 'subject.id', contains: 'probe' },
      { hop: 'read', path: '/created_by', equals: 'tester' },
      { hop: 'listed', path: 'items', count: 1, exists: true },
      { hop: 'listed', path: 'items.0.confidence', exists: false },
      { hop: 'absent', path: 'status', at_least: 404, at_most: 404 },
      { hop: 'failing', path: 'code', equals: 'not_found' },
    ],
  )
  expect(failed).toEqual({})
  expect(state).toBe('success')
  const [[request, status, , , body = '']] = (await readLanded(path.join(runFolder(site(), uid), 'raise'))) as [
    string[],
  ]
  expect([request, status]).toEqual(['POST /api/v1/signal', '201'])
  const ann = await site().as()
  expect(await ann.ok(getSignal, { uid: JSON.parse(body).uid })).toMatchObject({ title: 'Probe', created_by: 'tester' })
  const { tasks } = await ann.ok(runStatus, { dag_id: 'whole_journey', dag_run_id: 'deploy__1' })
  expect(tasks.find(({ task_id }) => task_id === 'raise')?.lineage).toMatchObject({ rows_out: 1 })
})

test('what is not as expected fails the run, with the hop, the path and both values', async () => {
  const { state, failed } = await runJourney(
    'failing_journey',
    [raise, show],
    [
      { name: 'status', hop: 'show', path: 'status', equals: 'resolved' },
      { name: 'pattern', hop: 'show', path: 'uid', matches: 'sig_*x?' },
      { name: 'absent', hop: 'show', path: 'subject.nothing', exists: true },
      { name: 'list', hop: 'show', path: 'related_signals', count: 7 },
      { name: 'code', hop: 'raise', status: 200 },
      { name: 'tool_status', hop: 'show', status: 200 },
      { name: 'long', hop: 'show', path: '', equals: {} },
      { name: 'holds', hop: 'show', path: 'status', equals: 'new' },
    ],
  )
  expect(state).toBe('failed')
  expect(Object.keys(failed).sort()).toEqual(['absent', 'code', 'list', 'long', 'pattern', 'status', 'tool_status'])
  expect(failed).toMatchObject({
    status: 'the response of show (the tool signal_get): at "status" expected equals "resolved", found "new"\n',
    pattern: expect.stringMatching(/at "uid" expected matches "sig_\*x\?", found "sig_[0-9a-f]{12}"/),
    absent: expect.stringContaining('at "subject.nothing" expected exists true, found no value'),
    list: expect.stringMatching(/expected count 7, found (0|no list and no object)/),
    code: expect.stringContaining('expected status 200, found 201'),
    tool_status: expect.stringContaining('found no status, as of a tool'),
  })
  expect(failed.long?.length).toBeLessThan(400)
})

test('a hop fails by its answer, its target and the values that it takes; later tasks do not begin', async () => {
  const get = (at: string, target = 'signals') => ({ target, rest: { path: at } })
  const cases: readonly (readonly [hop: object, reason: string])[] = [
    [get('api/v1/signal/sig_000000000000'), 'expected status 200 to 299, found 404 (not_found: '],
    [get('api/v1/signal', 'nobody'), 'found 401'],
    [get('api/v1/signal', 'small'), 'the answer has more than 64 bytes'],
    [get('api/v1/signal', 'private'), 'the profile does not permit the address of the service'],
    [get(`api/v1/signal/${fromRaise('nothing')}`), 'the response of raise has no value at "nothing"'],
    [get(`signal/${fromRaise('dots')}`, 'below'), 'has no value at "dots"'],
    [
      { target: 'signals', mcp: { tool: 'signal_get', arguments: { uid: 'sig_000000000000' } } },
      'ended with an error (not_found: ',
    ],
    [{ target: 'signals', mcp: { tool: 'no_such_tool' } }, 'the target signals'],
    [{ target: 'nobody', mcp: { tool: 'signal_get' } }, 'the target nobody'],
    [{ ...show, expect_error: true }, 'was expected to end with an error'],
    [
      { ...get('api/v1/signal'), until: { path: 'items.0.status', equals: 'gone', within_s: 1 } },
      'not within 1 s: at "items.0.status" expected equals "gone", found "new"',
    ],
  ]
  const runs = cases.map(async ([hop, reason], at) => {
    const dag_id = `hop_${at}`
    const verification = { hop: 'next', path: '', exists: true }
    const { failed } = await runJourney(dag_id, [raise, { ...hop, name: 'next' }], [verification])
    expect(failed).toEqual({ next: expect.stringContaining(reason) })
    expect(failed.next).not.toContain(url)
    const { tasks } = await (await site().as()).ok(runStatus, { dag_id, dag_run_id: 'deploy__1' })
    expect(tasks.map((task) => task.state)).toEqual(['success', 'failed', 'upstream_failed'])
  })
  await Promise.all(runs)
})

test('a value of a response stays one segment of the path', async () => {
  const climb = {
    ...raise,
    rest: { ...raise.rest, body: { ...raise.rest.body, title: '../../../health', description: '..' } },
  }
  const next = (at: string) => ({
    name: 'next',
    target: 'below',
    rest: { path: `signal/${fromRaise(at)}` },
    expect_status: 404,
  })
  const encoded = await runJourney('climbing', [climb, next('title')], [{ hop: 'next', path: 'code', exists: true }])
  expect(encoded.failed.next).toContain('the path leads out of the target')
  const dots = await runJourney('dotted', [climb, next('description')], [{ hop: 'next', status: 404 }])
  expect(dots.failed.next).toContain('the path leads out of the target')
})

test('a journey that cannot run is rejected with the field and its line', async () => {
  const held = { hop: 'raise', path: 'uid', exists: true }
  const cases: readonly (readonly [hops: readonly object[], verifications: readonly object[], fault: object])[] = [
    [[], [held], { path: 'hops' }],
    [[raise], [], { path: 'verifications' }],
    [
      [raise],
      [{ ...held, hop: 'other' }],
      { path: 'verifications.0.hop', reason: expect.stringContaining('names other') },
    ],
    [
      [raise],
      [{ hop: 'raise', path: 'uid' }],
      { path: 'verifications.0.path', reason: expect.stringContaining('matcher') },
    ],
    [[raise], [{ hop: 'raise' }], { path: 'verifications.0.path' }],
    [[raise], [held, { ...held, name: 'raise' }], { path: 'verifications.1.name' }],
    [[raise, raise], [held], { path: 'hops.1.name' }],
    [[show, raise], [held], { path: 'hops.0.mcp', reason: expect.stringContaining('not a hop before it') }],
    [[{ ...raise, mcp: show.mcp }], [held], { path: 'hops.0.rest' }],
    [[{ name: 'raise', target: 'signals' }], [held], { path: 'hops.0.rest' }],
    [[{ ...raise, rest: { path: '/api' } }], [held], { path: 'hops.0.rest.path' }],
    [[{ ...raise, rest: { path: 'a', query: { q: fromRaise('a{b') } } }], [held], { path: 'hops.0.rest' }],
    [[{ ...raise, until: { path: 'uid', exists: true } }], [held], { path: 'hops.0.until' }],
    [[{ ...raise, target: 'unknown' }], [held], { reason: expect.stringContaining('no target unknown for test_call') }],
    [[{ ...raise, target: 'foreign' }], [held], { reason: expect.stringContaining('no target foreign') }],
    [[{ ...raise, target: 'effects' }], [held], { reason: expect.stringContaining('no target effects') }],
    [[{ ...raise, target: 'secret' }], [held], { reason: expect.stringContaining('higher label') }],
  ]
  for (const [at, [hops, verifications, fault]] of cases.entries())
    expect(await runJourney(`rejected_${at}`, hops, verifications)).toMatchObject({ fault })
  const ann = await site().as()
  const { uid } = await ann.ok(deploy, { dag_id: 'no_json', content: '{\n"hops":', pipeline_type: 'journey_test' })
  expect(await waitUntilDeployed(ann, uid)).toMatchObject({ status: 'rejected', fault: { line: 2 } })
})

test('the rendered DAG is in the folder of tests of the repository, from which a run repeats it, until its end', async () => {
  const { uid } = await runJourney('kept', [raise], [{ hop: 'raise', path: 'uid', exists: true }])
  const ann = await site().as()
  const file = `tests/kept.${uid}.test.json`
  expect(await findLiveFile(file)).toContain('"operator": "verify_response_json"')
  const { dag_run_id } = await ann.ok(triggerRun, { uid, repeats: { dag_run_id: 'deploy__1', code: 'pinned' } })
  expect(await waitUntilRunOver(ann, 'kept', dag_run_id)).toMatchObject({ state: 'success' })
  await ann.ok(remove, { uid })
  expect(await findLiveFile(file)).toBeUndefined()
})

async function findLiveFile(file: string): Promise<string | undefined> {
  const objects = new GitObjects(path.join(site().folder.data, 'ingest', 'dags.git'))
  return await objects.findText((await objects.findHead('main')) ?? '', file)
}
