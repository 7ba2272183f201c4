// From an entity of the registry back to the run, the file and the line of each of its records, by `platform resolve origin`.
import { createHash } from 'node:crypto'
import { appendFileSync, readdirSync, renameSync } from 'node:fs'
import path from 'node:path'
import { afterEach, beforeAll, expect, test } from 'vitest'
import { status as runStatus } from '../../../daemon/roles/ingest/dag-run/status.ts'
import { deploy } from '../../../daemon/roles/ingest/datapipeline/deploy.ts'
import { list } from '../../../daemon/roles/ingest/datapipeline/list.ts'
import { remove as removePipeline } from '../../../daemon/roles/ingest/datapipeline/remove.ts'
import { create as arrive } from '../../../daemon/roles/resolution/arrival/create.ts'
import { find } from '../../../daemon/roles/resolution/entity/find.ts'
import { start } from '../../../daemon/roles/resolution/fusion-run/start.ts'
import { create as createLens } from '../../../daemon/roles/resolution/lens/create.ts'
import { runCommand } from '../../support/command/run-command.ts'
import { waitUntil } from '../../support/site/test-site.ts'
import { buildPeople, buildPersonLens, waitForRunEnd } from '../resolution/resolution-site.ts'
import { runFolder, setUpIngestSite, waitUntilDeployed } from './ingest-site.ts'

const site = setUpIngestSite(
  {},
  {
    profile: {
      platform: { roles: ['site', 'ingest', 'resolution'] },
      resolution: { port: 0 },
      identity: { roles: { matcher: ['resolution:*', 'health:read'] } },
    },
  },
)

const digest = (text: string) => createHash('sha256').update(text).digest('hex')
const toLines = (people: ReturnType<typeof buildPeople>) => people.map((each) => `${JSON.stringify(each)}\n`).join('')
/** Each record over two lines, behind a head of one. */
const toCsv = (people: ReturnType<typeof buildPeople>) => {
  const rows = people.map(({ id, given_name, surname, date_of_birth }) =>
    [id, given_name, surname, date_of_birth, '"a\nb"'].join(),
  )
  return ['id,given_name,surname,date_of_birth,note', ...rows].map((line) => `${line}\n`).join('')
}
const [east, west] = [toLines(buildPeople(0, 40)), toCsv(buildPeople(20, 60))]

const undo: (() => void)[] = []
afterEach(() => {
  for (const step of undo.splice(0)) step()
})

/** Lands both files and resolves what of them may be somebody; returns the folder of the datasets. */
async function runPipeline(dag_id: string, lens_id: string, more: object = {}): Promise<string> {
  const ann = await site().as()
  const land = (name: string, file: string) => ({ name, operator: 'ingest_file', params: { file }, retries: 0 })
  const where = { column: 'id', is: 'not_equal', value: 'p21' }
  const tasks = [
    land('east', 'east.jsonl'),
    land('read_west', 'west.csv'),
    { name: 'west', operator: 'filter', params: { where }, after: ['read_west'], retries: 0 },
    { name: 'resolve', operator: 'resolve_run', params: { lens_id }, after: ['east', 'west'], retries: 0 },
  ]
  const content = JSON.stringify({ format: 1, dag_id, tasks })
  const { uid } = await ann.ok(deploy, { dag_id, content, run_on_deploy: true, ...more })
  expect(await waitUntilDeployed(ann, uid)).not.toHaveProperty('fault')
  const { state } = await waitUntil(async () => {
    // The task looks at the run of the other role again after a while.
    site().clock.advance(100)
    const run = await ann.ok(runStatus, { dag_id, dag_run_id: 'deploy__1' })
    return (run.state === 'success' || run.state === 'failed') && run
  })
  expect(state).toBe('success')
  return runFolder(site(), uid)
}

let datasets: string
beforeAll(async () => {
  site().writeFile('east.jsonl', east)
  site().writeFile('west.csv', west)
  const ann = await site().as()
  await ann.ok(createLens, { body: buildPersonLens() })
  await ann.ok(createLens, { body: { ...buildPersonLens(), lens: 'hidden' } })
  datasets = await runPipeline('people', 'people')
  await runPipeline('hidden', 'hidden', { classification: { level: 'SECRET' } })
})

async function findEntity(record_id: string, node_id = 'east', lens = 'people'): Promise<string> {
  const ann = await site().as()
  return (await ann.ok(find, { lens, node_id, record_id })).uid
}

type Holder = Parameters<ReturnType<typeof site>['token']>[0]

async function showOrigin(entity: string, holder?: Holder, ...more: string[]) {
  const home = path.dirname(site().folder.profile)
  const token = await site().token(holder)
  return await runCommand(['resolve', 'origin', entity, '--site', home, '--token', token, ...more])
}

async function traceOrigin(entity: string, holder?: Holder) {
  const { exit, stdout, stderr } = await showOrigin(entity, holder, '--json')
  expect(exit, stderr).toBe(0)
  return JSON.parse(stdout)
}

test('an entity leads to the runs, the files and the lines of its records', async () => {
  const entity = await findEntity('p25')
  const { exit, stdout } = await showOrigin(entity)
  const run = path.basename(datasets)
  expect([exit, ...stdout.trimEnd().split('\n')]).toEqual([
    ...[0, `entity ${entity}: 2 records`],
    ...['  east:p25', '    task east of the run deploy__1 of people'],
    ...[`      row 26 of ${run}/east`, `        line 26 of east.jsonl, SHA-256 ${digest(east)}`],
    ...['  west:p25', '    task west of the run deploy__1 of people'],
    // The filter left out the second row of the file; each record of it has two lines.
    ...[`      row 5 of ${run}/west`, `        row 6 of ${run}/read_west`],
    `          line 12 of west.csv, SHA-256 ${digest(west)}`,
  ])
})

test('the answer for scripts has the dataset by its digest', async () => {
  const entity = await findEntity('p25')
  const ann = await site().as()
  const { tasks } = await ann.ok(runStatus, { dag_id: 'people', dag_run_id: 'deploy__1' })
  const [named] = tasks
  const { records } = await traceOrigin(entity)
  const { dataset, digest: sha256 } = named?.lineage ?? {}
  expect(records[0]).toMatchObject({
    ...{ source: 'east', id: 'p25', came_by: 'dataset', run_id: expect.stringMatching(/^run_/) },
    dataset: { dag_id: 'people', dag_run_id: 'deploy__1', task: 'east', name: dataset, digest: sha256, state: 'found' },
    origin: { row: 26, sha256, inputs: [{ kind: 'file', name: 'east.jsonl', place: 26, sha256: digest(east) }] },
  })
})

test('a record that arrived with other values is not one of the row with its id', async () => {
  const [changed] = buildPeople(3_000, 3_001)
  const ann = await site().as()
  await ann.ok(arrive, { lens_id: 'people', node_id: 'east', records: [{ ...changed, id: 'p1' }] })
  const { records } = await traceOrigin(await findEntity('p1'))
  expect(records).toEqual([
    { source: 'east', id: 'p1', run_id: expect.any(String), came_by: 'arrival', arrived_at: expect.any(String) },
  ])
})

test('records of a request are named as such', async () => {
  const ann = await site().as()
  await ann.ok(createLens, { body: { ...buildPersonLens(), lens: 'inline' } })
  const node_data = { one: buildPeople(0, 30), two: buildPeople(10, 40) }
  await waitForRunEnd(ann, (await ann.ok(start, { lens_id: 'inline', node_data })).run_id)
  const { stdout } = await showOrigin(await findEntity('p15', 'one', 'inline'))
  expect(stdout).toMatch(/ {2}one:p15\n {4}in the request of the run run_[0-9a-f]{32}\n {2}two:p15\n/)
})

test('a dataset that is gone, or another one, is named by its digest', async () => {
  const entity = await findEntity('p25')
  renameSync(path.join(datasets, 'east'), `${datasets}-away`)
  undo.push(() => renameSync(`${datasets}-away`, path.join(datasets, 'east')))
  const { exit, stdout } = await showOrigin(entity)
  expect(exit).toBe(0)
  expect(stdout).toMatch(/east:p25\n.*the dataset \S+\/east, SHA-256 [0-9a-f]{64}, which is not there any more\n/)
  expect(stdout).toContain('line 12 of west.csv')
  for (const step of undo.splice(0)) step()
  appendFileSync(path.join(datasets, 'east/dataset.json'), ' ')
  expect((await showOrigin(entity)).stdout).toMatch(/east:p25\n.*, which another one has replaced\n/)
})

test('a dataset with other rows than landed ends the query', async () => {
  const entity = await findEntity('p50', 'west')
  const data = readdirSync(path.join(datasets, 'west')).find((name) => name.endsWith('.parquet')) ?? ''
  appendFileSync(path.join(datasets, 'west', data), ' ')
  const refused = await showOrigin(entity)
  expect(refused).toMatchObject({ exit: 5, stdout: '', stderr: expect.stringContaining('is damaged') })
})

test('of an entity above the clearance there is nothing to follow', async () => {
  const entity = await findEntity('p25', 'east', 'hidden')
  expect((await traceOrigin(entity)).records[0].origin.row).toBe(26)
  const low = { subject: 'bob', clearance: { level: 'RESTRICTED' } }
  expect(await showOrigin(entity, low)).toMatchObject({ exit: 1, stdout: '' })
  const stranger = { subject: 'eve', tenant: 'other' }
  expect(await showOrigin(entity, stranger)).toMatchObject({ exit: 1, stdout: '' })
})

test('the rights of the role that landed the dataset are needed too', async () => {
  const entity = await findEntity('p26', 'east', 'hidden')
  const refused = await showOrigin(entity, { subject: 'mat', roles: ['matcher'] })
  expect(refused).toMatchObject({ stdout: '', stderr: expect.stringContaining('ingest:read') })
  expect(refused.exit).not.toBe(0)
})

test('a dataset of a run that is gone is not followed: the service cannot say who may read it', async () => {
  const entity = await findEntity('p27', 'east', 'hidden')
  const ann = await site().as()
  const pipeline = (await ann.ok(list, {})).items.find(({ dag_id }) => dag_id === 'hidden')
  await ann.ok(removePipeline, { uid: pipeline?.uid ?? '' })
  const { exit, stdout } = await showOrigin(entity)
  expect(exit).toBe(0)
  expect(stdout).toMatch(
    /east:p27\n.*the dataset \S+\/east, SHA-256 [0-9a-f]{64}, whose run is not there any more, or not for/,
  )
})

test.each([
  ['an entity that is not there', ['ent_none'], 1, /no cluster|ent_none/],
  ['files without a result folder', ['ent_none', '--data', 'x.csv'], 2, /--data needs --out/],
])('%s is refused', async (_, [entity = '', ...more], exit, message) => {
  const refused = await showOrigin(entity, undefined, ...more)
  expect([refused.exit, refused.stderr]).toEqual([exit, expect.stringMatching(message)])
})
