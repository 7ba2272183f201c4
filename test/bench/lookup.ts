// Measures lookups and arrivals of a service at two sizes: the run that fills the registry, its index, requests over HTTP on the real store,
// records from a watched folder, and how long the log of changes takes to have what arrived.
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as rest } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { readLens } from '../../daemon/offline/resolve/lens/lens-file.ts'
import { lookup } from '../../daemon/roles/resolution/entity/lookup.ts'
import { entityClusters } from '../../daemon/roles/resolution/entity-cluster/model.ts'
import { start } from '../../daemon/roles/resolution/fusion-run/start.ts'
import { status } from '../../daemon/roles/resolution/fusion-run/status.ts'
import { create } from '../../daemon/roles/resolution/lens/create.ts'
import type { Figure } from '../support/bench/figure.ts'
import type { CheckedClient } from '../support/http/checked-client.ts'
import { generatePeople } from '../support/resolution/generate-people.ts'
import { startTestSite, type TestSite } from '../support/site/test-site.ts'

/** Entities: people, each of whom is written down up to four times, so that a run has at most a million records. */
const sizes = (process.env.BENCH_ENTITIES ?? '100000,1000000').split(',').map(Number)
const run_records = 1_000_000
const clients = 4
const lookups = 2_000
const max_lookup_ms = 50
/** Records of one request of arrivals, and their number. */
const arrival_records = 100
const arrival_requests = 10
/** Records of the file in the watched folder. */
const file_records = Number(process.env.BENCH_FILE_RECORDS ?? '2000')

type Report = (figure: Figure) => void
type ColumnValues = Readonly<Record<string, string>>

export async function bench(report: Report): Promise<void> {
  for (const people of sizes) await measureSize(people, report)
}

async function measureSize(people: number, report: Report): Promise<void> {
  const folder = mkdtempSync(path.join(tmpdir(), 'bench-lookup-'))
  const data_folder = path.join(folder, 'data')
  const drop = path.join(folder, 'drop')
  mkdirSync(drop)
  const arrival_folders = [{ name: 'drop', path: drop, node_id: 'drop', lens: 'persons' }]
  const profile = { platform: { roles: ['site', 'resolution'] }, resolution: { port: 0, data_folder, arrival_folders } }
  const site = await startTestSite({ profile })
  try {
    const records = writePeople(people, path.join(data_folder, site.tenant))
    const person = await site.as({ lifetime_s: 86_400 })
    await person.ok(create, { body: readLens('persons') })
    await measureRun(person, report)
    await measureLog(site, 'log after the run', report)
    await measureIndex(person, records[0] ?? {}, report)
    await measureLookups(site, person, records, report)
    await measureArrivals(site, person, people, report)
    await measureFolder(site, drop, people, report)
    report({ figure: 'memory of the process', value: process.memoryUsage().rss / 1e6, unit: 'MB' })
  } finally {
    await site.end()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Writes the data file of the run. Returns records to look up. */
function writePeople(people: number, folder: string): ColumnValues[] {
  const max_copies = Math.min(3, Math.floor(2 * (run_records / people - 1)))
  const { csv } = generatePeople(people, 7, max_copies)
  mkdirSync(folder, { recursive: true })
  writeFileSync(path.join(folder, 'people.csv'), csv)
  return parsePeople(csv, lookups)
}

function parsePeople(csv: string, count: number): ColumnValues[] {
  const [head = '', ...lines] = csv.slice(0, 300 * count).split('\n')
  const columns = head.split(',')
  const whole = lines.filter((line) => line !== '')
  return whole.slice(0, count).map((line) => {
    const cells = line.split(',')
    return Object.fromEntries(columns.map((name, at) => [name, cells[at] ?? '']))
  })
}

async function measureRun(person: CheckedClient, report: Report): Promise<void> {
  const began = performance.now()
  const { run_id } = await person.ok(start, { lens_id: 'persons', node_data: { people: { file: 'people.csv' } } })
  for (;;) {
    const { state, counts, failure, left_out = [] } = await person.ok(status, { run_id })
    if (state === 'failed' || state === 'cancelled') throw new Error(`the run ${state}: ${failure?.reason}`)
    if (state === 'completed') {
      report({ figure: 'records', value: counts.records ?? 0, unit: '' })
      report({ figure: 'entities', value: counts.entities ?? 0, unit: '' })
      report({ figure: 'matches', value: counts.matches ?? 0, unit: '' })
      report({ figure: 'left out', value: left_out.length, unit: '', atMost: 0 })
      report({ figure: 'run, written', value: (performance.now() - began) / 1_000, unit: 's' })
      return
    }
    await rest(500)
  }
}

/** Looks one record up until the index is loaded, as a caller that honours `Retry-After`. */
async function measureIndex(person: CheckedClient, record: ColumnValues, report: Report): Promise<void> {
  const [began, before] = [performance.now(), process.memoryUsage().rss]
  let longest_ms = 0
  for (;;) {
    const sent_ms = performance.now()
    const { value, problem, retry_after_s } = await person.call(lookup, { record, lens_id: 'persons' })
    longest_ms = Math.max(longest_ms, performance.now() - sent_ms)
    if (value) break
    if (retry_after_s === undefined) throw new Error(problem?.detail)
    await rest(retry_after_s * 1_000)
  }
  report({ figure: 'index loaded', value: (performance.now() - began) / 1_000, unit: 's' })
  report({ figure: 'longest answer meanwhile', value: longest_ms / 1_000, unit: 's' })
  report({ figure: 'memory of the index', value: (process.memoryUsage().rss - before) / 1e6, unit: 'MB' })
}

async function measureLookups(
  site: TestSite,
  { token }: CheckedClient,
  records: readonly ColumnValues[],
  report: Report,
): Promise<void> {
  const bodies = records.map((record) => JSON.stringify({ record, lens_id: 'persons' }))
  await sendTimed(site, token, '/api/v2/entity_lookup', bodies.slice(0, 100))
  const { answers, took_ms } = await sendTimed(site, token, '/api/v2/entity_lookup', bodies)
  const times = answers.map(({ ms }) => ms).sort((a, b) => a - b)
  const at = (share: number) => times[Math.floor(times.length * share)] ?? Number.NaN
  report({ figure: `lookups, ${clients} clients`, value: (answers.length * 1_000) / took_ms, unit: '1/s' })
  report({ figure: 'lookup, median', value: at(0.5), unit: 'ms' })
  report({ figure: 'lookup, 99 of 100', value: at(0.99), unit: 'ms', atMost: max_lookup_ms })
}

/** The first request loads the index of the service, which sees records of all labels. */
async function measureArrivals(
  site: TestSite,
  { token }: CheckedClient,
  people: number,
  report: Report,
): Promise<void> {
  const total = arrival_records * (arrival_requests + 1)
  const arriving = parsePeople(generatePeople(total, people + 1).csv, total).map((record) => ({
    ...record,
    id: `new ${record.id}`,
  }))
  const bodies = Array.from({ length: arrival_requests + 1 }, (_, at) =>
    JSON.stringify({
      node_id: 'desk',
      lens_id: 'persons',
      records: arriving.slice(at * arrival_records, (at + 1) * arrival_records),
    }),
  )
  const began = performance.now()
  await addRecords(site, token, bodies.slice(0, 1))
  report({ figure: 'first arrival', value: (performance.now() - began) / 1_000, unit: 's' })
  const from = performance.now()
  await addRecords(site, token, bodies.slice(1))
  const seconds = (performance.now() - from) / 1_000
  const records = arrival_records * arrival_requests
  report({ figure: 'arriving records', value: records / seconds, unit: '1/s' })
  await measureLog(site, 'log after arrivals', report)
  const logged_s = (performance.now() - from) / 1_000
  report({ figure: 'arriving, logged too', value: records / logged_s, unit: '1/s' })
}

/** Waits until the log has the changes of every entity: the two background writes for each. */
async function measureLog(site: TestSite, figure: string, report: Report): Promise<void> {
  const began = performance.now()
  const store = site.store('resolution')
  const query = { filter: { unlogged: 1 }, limit: 1, fresh: true }
  site.wakeWorker('resolution', 'entity-changes')
  while ((await store.list(entityClusters, query)).docs.length > 0) await rest(50)
  report({ figure, value: (performance.now() - began) / 1_000, unit: 's' })
}

/** A file of records, from its rename into the folder until it is in done. */
async function measureFolder(site: TestSite, drop: string, people: number, report: Report): Promise<void> {
  const [head = '', ...lines] = generatePeople(file_records, people + 2).csv.split('\n')
  const rows = lines.slice(0, file_records).map((line) => `file ${line}`)
  writeFileSync(path.join(drop, '.people.csv'), [head, ...rows].join('\n'))
  const began = performance.now()
  renameSync(path.join(drop, '.people.csv'), path.join(drop, 'people.csv'))
  const ends = ['done', 'failed'].map((end) => path.join(drop, end))
  while (!ends.some((end) => existsSync(end) && readdirSync(end).length > 0)) await rest(50)
  if (readdirSync(path.join(drop, 'failed')).length > 0) throw new Error('the file of the folder failed')
  report({ figure: 'records of a file', value: (rows.length * 1_000) / (performance.now() - began), unit: '1/s' })
  await measureLog(site, 'log after the file', report)
}

/** Sends arrivals, and waits until each is matched. */
async function addRecords(site: TestSite, token: string, bodies: readonly string[]): Promise<void> {
  const { answers } = await sendTimed(site, token, '/api/v2/arrival', bodies)
  for (const { text } of answers) {
    const { uid } = JSON.parse(text) as { uid: string }
    for (;;) {
      const { json } = await site.call('resolution', 'GET', `/api/v2/arrival/${uid}`, undefined, { token })
      const { state, failure } = json as { state: string; failure?: { reason: string } }
      if (state === 'failed') throw new Error(failure?.reason)
      if (state === 'matched') break
      await rest(50)
    }
  }
}

type TimedAnswers = {
  readonly answers: readonly { readonly status: number; readonly ms: number; readonly text: string }[]
  readonly took_ms: number
}

async function sendTimed(site: TestSite, token: string, at: string, bodies: readonly string[]): Promise<TimedAnswers> {
  const client = new Worker(new URL('../support/bench/send-timed.mjs', import.meta.url))
  try {
    const { port } = new URL(site.url('resolution'))
    client.postMessage({ port: Number(port), path: at, headers: { authorization: `Bearer ${token}` }, clients, bodies })
    const [sent] = (await once(client, 'message')) as [TimedAnswers & { readonly error?: string }]
    const refused = sent.answers?.find(({ status: code }) => code >= 300)
    if (sent.error !== undefined || refused) throw new Error(sent.error ?? refused?.text)
    return sent
  } finally {
    await client.terminate()
  }
}
