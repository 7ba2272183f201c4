// The lineage of runs as events of OpenLineage: in a file, at a collector that was away, and never above the clearance of a sink.

import * as fs from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { deploy } from '../../../daemon/roles/ingest/datapipeline/deploy.ts'
import type { LineageEvent } from '../../../daemon/roles/ingest/lineage/open-lineage.ts'
import { dagRuns } from '../../../daemon/roles/ingest/runner/model.ts'
import { waitUntil } from '../../support/site/test-site.ts'
import { ingestContent, setUpIngestSite, waitUntilDeployed, waitUntilRunOver } from './ingest-site.ts'

const folder = fs.mkdtempSync(path.join(tmpdir(), 'lineage-'))
const file = path.join(folder, 'events.jsonl')
const key_file = path.join(folder, 'key')
fs.writeFileSync(key_file, 'collector-key\n', { mode: 0o600 })

/** What the collector was sent; it answers with this status. */
const received: { readonly authorization: string | undefined; readonly event: LineageEvent }[] = []
let status = 503
const collector = createServer((request, response) => {
  const pieces: Buffer[] = []
  request.on('data', (piece) => pieces.push(piece))
  request.on('end', () => {
    const event = JSON.parse(Buffer.concat(pieces).toString('utf8'))
    if (status === 201) received.push({ authorization: request.headers.authorization, event })
    response.writeHead(status).end()
  })
})
const url = await new Promise<string>((resolve) => {
  collector.listen(0, '127.0.0.1', () => {
    resolve(`http://127.0.0.1:${(collector.address() as AddressInfo).port}/api/v1/lineage`)
  })
})
beforeAll(() => fs.writeFileSync(file, ''))
afterAll(() => {
  collector.close()
  fs.rmSync(folder, { recursive: true, force: true })
})

const site = setUpIngestSite({
  lineage_sinks: [
    { url, key_file, clearance: { level: 'UNCLASSIFIED' } },
    { file, clearance: { level: 'SECRET' } },
  ],
})

const readFileEvents = (): LineageEvent[] =>
  fs
    .readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))

/** Deploys a pipeline with a first run, and waits for the end of that. */
async function runOnce(dag_id: string, content: string, more: object = {}): Promise<string> {
  const ann = await site().as({ roles: ['admin'], clearance: { level: 'SECRET' } })
  const { uid } = await ann.ok(deploy, { dag_id, content, run_on_deploy: true, ...more })
  await waitUntilDeployed(ann, uid)
  await waitUntilRunOver(ann, dag_id, 'deploy__1')
  return `${uid}.deploy__1`
}

async function waitUntilReported(run: string): Promise<void> {
  await waitUntil(async () => {
    site().wakeWorker('ingest', 'lineage-events')
    return (await site().store('ingest').get(dagRuns, run))?.value.unreported === undefined
  })
}

const read = (dag_id: string) => ({ name: 'read', operator: 'ingest_file', params: { file: `${dag_id}.csv` } })

test('a run is reported once it is over, with each task, its inputs and outputs, also to a collector that was away', async () => {
  site().writeFile('reported.csv', 'a,b\n1,x\n2,y\n')
  const params = { where: { column: 'a', is: 'greater', value: 1 } }
  const content = JSON.stringify({
    ...{ format: 1, dag_id: 'reported' },
    tasks: [read('reported'), { name: 'large', operator: 'filter', params, after: ['read'] }],
  })
  const run = await runOnce('reported', content)
  site().wakeWorker('ingest', 'lineage-events')
  expect((await site().store('ingest').get(dagRuns, run))?.value.unreported).toBe(1)
  status = 201
  await waitUntilReported(run)
  const events = received.map(({ event }) => event)
  expect(new Set(received.map(({ authorization }) => authorization))).toEqual(new Set(['Bearer collector-key']))
  expect(readFileEvents()).toEqual(events)
  expect(events.map(({ eventType, job }) => `${eventType} ${job.name}`)).toEqual([
    ...[
      'START reported',
      'START reported.read',
      'COMPLETE reported.read',
      'START reported.large',
      'COMPLETE reported.large',
      'COMPLETE reported',
    ],
  ])
  const [whole, , readEnd, , largeEnd] = events
  const namespace = `platform://${site().name}/${site().tenant}`
  expect(readEnd).toMatchObject({
    job: { namespace },
    run: { facets: { parent: { run: { runId: whole?.run.runId }, job: { namespace, name: 'reported' } } } },
    inputs: [{ namespace, name: 'file/reported.csv', inputFacets: { inputStatistics: { rowCount: 2, size: 12 } } }],
    outputs: [{ outputFacets: { outputStatistics: { rowCount: 2 } }, facets: { rejects: { rows: 0 } } }],
  })
  const { name, facets } = readEnd?.outputs[0] ?? {}
  expect(largeEnd?.inputs).toMatchObject([{ namespace, name, facets: { version: facets?.version } }])
  expect(largeEnd?.outputs).toMatchObject([{ outputFacets: { outputStatistics: { rowCount: 1 } } }])
  for (const { run: of, schemaURL, producer } of events) {
    expect(of.runId).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    expect([schemaURL, producer]).toEqual([expect.stringContaining('#/$defs/RunEvent'), 'urn:platform:ingest'])
  }
})

test('a failed run says which task failed, and no value of its rows', async () => {
  status = 201
  site().writeFile('failing.csv', 'a,b\n1,secret-value\n2\n')
  await waitUntilReported(await runOnce('failing', ingestContent('failing', 'failing.csv')))
  const own = readFileEvents().filter(({ job }) => job.name.startsWith('failing'))
  expect(own.map(({ eventType }) => eventType)).toEqual(['START', 'START', 'FAIL', 'FAIL'])
  expect(own[2]?.run.facets.errorMessage).toMatchObject({ message: expect.stringContaining('failed') })
  expect(JSON.stringify(own)).not.toContain('secret-value')
})

test('a run above the clearance of a sink does not reach it', async () => {
  status = 201
  const before = received.length
  site().writeFile('hidden.csv', 'a\n1\n')
  const run = await runOnce('hidden', ingestContent('hidden', 'hidden.csv'), { classification: 'SECRET' })
  await waitUntilReported(run)
  expect(received).toHaveLength(before)
  expect(readFileEvents().some(({ job }) => job.name === 'hidden')).toBe(true)
})
