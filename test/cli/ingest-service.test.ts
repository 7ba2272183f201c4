// The commands of `ingest` against a running site: deploy a pipeline, run it, and look at its runs.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { createScratchFolder, runCommand, runJsonCommand, serveSite } from '../support/command/run-command.ts'
import { findFreePortPairs } from '../support/monitoring/free-port-pairs.ts'

const { dir, remove } = createScratchFolder('ingest-service')
const site = path.join(dir, 'alpha')
const env = { PLATFORM_SITE: site }
let running: Awaited<ReturnType<typeof serveSite>>

beforeAll(async () => {
  await runJsonCommand(['init', '--site', site, '--tenant', 'acme', '--profile', 'demo'])
  const profile = path.join(site, 'profile.yaml')
  const data_folder = path.join(dir, 'data')
  const text = readFileSync(profile, 'utf8').replace(/roles: \[.*\]/, 'roles: [site, ingest]')
  const [port] = await findFreePortPairs(1)
  const target = `{ name: own, url: 'http://127.0.0.1:${port}', operator: test_call }`
  const places = `  trusted_networks: [127.0.0.1]\n  http_targets: [${target}]\n`
  writeFileSync(profile, `${text}\ningest:\n  port: ${port}\n  data_folder: ${data_folder}\n${places}`)
  mkdirSync(path.join(data_folder, 'acme'), { recursive: true })
  writeFileSync(path.join(data_folder, 'acme/orders.csv'), 'id,amount\n1,10\n2,20\n')
  running = await serveSite(site)
})
afterAll(async () => {
  await running.stop()
  remove()
})

const ingest = (...words: string[]) => runJsonCommand(['ingest', ...words], { env })
const readable = (...words: string[]) => runCommand(['ingest', ...words], { env })

const read = { name: 'read', operator: 'ingest_file', params: { file: 'orders.csv' }, retries: 0 }

function writeDag(dag_id: string, ...tasks: object[]): string {
  const file = path.join(dir, `${dag_id}.json`)
  writeFileSync(file, JSON.stringify({ format: 1, dag_id, tasks }))
  return file
}

test('from a file to the rows that a run has landed', async () => {
  const file = writeDag('orders', read)
  expect(await ingest('deploy', file, '--schedule', '@daily')).toMatchObject({ dag_id: 'orders', status: 'active' })
  expect((await ingest('pipelines')).items).toMatchObject([{ dag_id: 'orders', schedule: '@daily' }])
  const run = await ingest('run', 'orders', '--wait')
  expect(run).toMatchObject({ state: 'success', tasks: [{ task_id: 'read', lineage: { rows_out: 2, rejects: 0 } }] })
  const shown = await readable('show', 'orders')
  expect(shown.stdout).toMatch(
    /pipeline +orders\n[\s\S]*TASK +STATE +TRY +ROWS +REJECTS +MADE\nread +success +1 +2 +0 +pl_/,
  )
  expect((await ingest('runs', 'orders')).items).toMatchObject([{ dag_run_id: run.dag_run_id, state: 'success' }])
  expect((await readable('pipelines')).stdout).toMatch(/orders +active +success +@daily/)
})

test('a file that was changed is deployed again, for the same pipeline', async () => {
  const before = await ingest('deploy', writeDag('again', read))
  const renamed = {
    name: 'renamed',
    operator: 'rename',
    params: { columns: [{ column: 'id', to: 'order' }] },
    after: ['read'],
  }
  const after = await ingest('deploy', writeDag('again', read, renamed), '--schedule', 'none')
  expect(after.uid).toBe(before.uid)
  expect((await ingest('run', 'again', '--wait')).tasks).toHaveLength(2)
})

test('a label is of a new pipeline, and refused for one that has its own', async () => {
  const file = writeDag('labelled', read)
  await ingest('deploy', file, '--classification', 'SECRET')
  const { exit, stderr } = await readable('deploy', file, '--classification', 'RESTRICTED')
  expect([exit, stderr]).toEqual([2, expect.stringMatching(/labelled is deployed, and keeps its label/)])
  expect((await ingest('pipelines')).items).toContainEqual(
    expect.objectContaining({ dag_id: 'labelled', classification: expect.objectContaining({ level: 'SECRET' }) }),
  )
})

test('a journey test is deployed by its type, which it keeps, and says what was found', async () => {
  const file = path.join(dir, 'journey.json')
  const write = (found: object) => {
    const hops = [{ name: 'look', target: 'own', rest: { path: 'health' } }]
    writeFileSync(file, JSON.stringify({ dag_id: 'journey', hops, verifications: [{ hop: 'look', ...found }] }))
  }
  write({ status: 200, path: 'status', exists: true })
  expect(await ingest('deploy', file, '--type', 'journey_test')).toMatchObject({ pipeline_type: 'journey_test' })
  expect(await ingest('run', 'journey', '--wait')).toMatchObject({ state: 'success' })
  write({ path: 'status', equals: 'away' })
  await ingest('deploy', file)
  const { exit, stdout } = await readable('run', 'journey', '--wait')
  expect([exit, stdout]).toEqual([
    1,
    expect.stringMatching(/the response of look .* at "status" expected equals "away", found "/),
  ])
  const other = await readable('deploy', file, '--type', 'assembled')
  expect([other.exit, other.stderr]).toEqual([
    2,
    expect.stringContaining('journey is deployed as journey_test, and keeps its type'),
  ])
})

test('content that is rejected ends the command with the place and the reason', async () => {
  const { exit, stderr } = await readable('deploy', writeDag('rejected', { ...read, operator: 'unknown' }))
  expect([exit, stderr]).toEqual([1, expect.stringMatching(/rejected is rejected: tasks\.0\.operator: .*unknown/)])
})

test('a run that fails ends the command with exit code 1, and shows the log of the task', async () => {
  await ingest('deploy', writeDag('failing', { ...read, params: { file: 'absent.csv' } }))
  const { exit, stdout, stderr } = await readable('run', 'failing', '--wait')
  expect([exit, stderr]).toEqual([1, expect.stringMatching(/the run \S+ of failing has failed: of read/)])
  expect(stdout).toMatch(/read:\n {2}[^\n]*does not exist/)
  expect((await ingest('runs', 'failing', '--state', 'failed')).items).toHaveLength(1)
})

test('a run of a paused pipeline is triggered once for a key, waits, and is stopped by the name of the pipeline', async () => {
  await ingest('deploy', writeDag('paused', read))
  expect((await readable('pause', 'paused')).stdout).toBe('paused is paused\n')
  const one = await ingest('run', 'paused', '--idempotency-key', 'one')
  expect((await ingest('run', 'paused', '--idempotency-key', 'one')).dag_run_id).toBe(one.dag_run_id)
  expect((await ingest('show', 'paused')).tasks).toMatchObject([{ state: null }])
  expect((await ingest('stop', 'paused')).items).toMatchObject([{ dag_run_id: one.dag_run_id, state: 'failed' }])
  expect(await ingest('show', 'paused', one.dag_run_id)).toMatchObject({ state: 'failed', reason: 'it was stopped' })
  const two = readable('run', 'paused', '--wait', '--json')
  await vi.waitFor(async () => expect((await ingest('runs', 'paused')).items).toHaveLength(2), { timeout: 60_000 })
  expect(await ingest('resume', 'paused')).toMatchObject({ dag_id: 'paused' })
  const { exit, stdout, stderr } = await two
  expect([exit, JSON.parse(stdout).state]).toEqual([0, 'success'])
  expect(stderr).toContain('the pipeline paused is paused: its runs wait until `platform ingest resume paused`')
})

test.each([
  [['run', 'absent'], 1, /absent/],
  [['stop', 'absent'], 1, /the pipeline absent does not exist[\s\S]*platform ingest pipelines/],
  [['runs', 'absent'], 1, /absent/],
])('%j names what is missing', async (words, code, message) => {
  const { exit, stderr } = await readable(...words)
  expect([exit, stderr]).toEqual([code, expect.stringMatching(message)])
})

test('a pipeline without a run says how to start one', async () => {
  await ingest('deploy', writeDag('idle', read))
  const { exit, stderr } = await readable('show', 'idle')
  expect([exit, stderr]).toEqual([1, expect.stringContaining('platform ingest run idle')])
})

test('a file without the name of a DAG is refused', async () => {
  const file = path.join(dir, 'dag.py')
  writeFileSync(file, 'from airflow import DAG\n')
  expect(await readable('deploy', file)).toMatchObject({ exit: 2 })
  const { exit, stderr } = await readable('deploy', file, '--dag', 'in_python')
  expect([exit, stderr]).toEqual([2, expect.stringContaining('Airflow')])
})

test('an effect from a file to its run, its pause and its end', async () => {
  const file = path.join(dir, 'effect.json')
  const operators = [{ name: 'ingest_file', params: { file: 'orders.csv' }, retries: 0 }]
  writeFileSync(file, JSON.stringify({ name: 'orders of today', operators }))
  const { uid, dag_id } = await ingest('effect', 'create', file)
  const run = await ingest('effect', 'run', uid, '--wait')
  expect(run).toMatchObject({ dag_id, state: 'success', tasks: [{ lineage: { rows_out: 2 } }] })
  expect((await readable('effect', 'show', uid)).stdout).toMatch(
    /status +active\n[\s\S]*operators +ingest_file\n[\s\S]*last run +success/,
  )
  expect((await readable('effect', 'list')).stdout).toMatch(new RegExp(`${uid} +orders of today +active +success`))
  expect((await readable('effect', 'pause', uid)).stdout).toContain(`${uid} is paused`)
  expect(await ingest('effect', 'show', uid)).toMatchObject({ status: 'paused' })
  await ingest('effect', 'resume', uid)
  await ingest('effect', 'stop', uid)
  expect((await readable('effect', 'delete', uid)).stdout).toContain(`${uid} is deleted`)
  const gone = await readable('effect', 'show', uid)
  expect([gone.exit, gone.stderr]).toEqual([1, expect.stringContaining('platform ingest effect list lists them')])
})

test('an effect that is rejected ends the command with its reason; a file that is none is not sent', async () => {
  const file = path.join(dir, 'rejected.json')
  const operators = [{ name: 'ingest_landing_zone', params: {} }]
  writeFileSync(file, JSON.stringify({ name: 'zone', operators }))
  const { exit, stderr } = await readable('effect', 'create', file)
  expect([exit, stderr]).toEqual([1, expect.stringMatching(/zone is rejected: .*an effect has no landing zone/)])
  writeFileSync(file, JSON.stringify({ operators }))
  expect(await readable('effect', 'create', file)).toMatchObject({ exit: 2, stderr: expect.stringContaining('"name"') })
})
