// The sources of the demo of ingestion: customers of five branches, each in a file of its own kind, and of a database.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { offline } from '../../daemon/offline/offline.ts'
import type { ApiObject } from '../client/client.ts'
import { CommandFailure } from '../program/command.ts'
import type { DemoSite } from './demo-site.ts'
import { waitUntil } from './wait-until.ts'

const demo_dag = 'branches'
const dag_run_id = 'deploy__1'

const files = ['north.csv', 'east.jsonl', 'south.xml', 'west.parquet', 'office.xlsx', 'registry.db'] as const

/** Columns of north.csv, which has names of its own. */
const northColumns = [
  ['Kundennummer', 'id'],
  ['Vorname', 'given_name'],
  ['Nachname', 'surname'],
  ['Geburtsdatum', 'date_of_birth'],
  ['Straße', 'street'],
  ['Ort', 'city'],
  ['PLZ', 'postcode'],
  ['E-Mail', 'email'],
].map(([column, to]) => ({ column, to }))

/** Writes the files into the folder that the daemon may read; returns their names. */
export async function writeBranches(tenant: string, data_folder: string): Promise<readonly string[]> {
  const { readSampleBranch } = await offline.shippedFiles()
  mkdirSync(join(data_folder, tenant), { recursive: true, mode: 0o700 })
  for (const file of files) writeFileSync(join(data_folder, tenant, file), readSampleBranch(file), { mode: 0o600 })
  return files
}

/** Connects the database, and deploys the pipeline that reads all sources and resolves them; it runs at once. */
export async function deployBranches({ analyst, operator }: DemoSite): Promise<string> {
  const { readLens } = await offline.lenses()
  const { lens, ...body } = readLens('persons')
  await analyst.call('resolution.lens.create', { body: { lens, ...body } })
  const database = { name: 'registry', conn_type: 'sqlite', config: { file: 'registry.db' } }
  const { uid: connection_id } = await operator.call('ingest.connection.create', database)
  const read = (name: string, file: string, params: object = {}) => ({
    ...{ name, operator: 'ingest_file', params: { file, ...params } },
  })
  const sources = ['north', 'east', 'south', 'west', 'office', 'registry']
  const tasks = [
    read('read_north', 'north.csv'),
    { name: 'north', operator: 'rename', params: { columns: northColumns }, after: ['read_north'] },
    read('east', 'east.jsonl'),
    read('south', 'south.xml', { read_as: { pointer: '/branch/customer' } }),
    read('west', 'west.parquet'),
    read('office', 'office.xlsx'),
    { name: 'registry', operator: 'ingest_database', params: { connection_id, table: 'customer' } },
    { name: 'resolve', operator: 'resolve_run', params: { lens_id: String(lens) }, after: sources },
  ]
  const content = JSON.stringify({ format: 1, dag_id: demo_dag, tasks })
  const deployed = await operator.call('ingest.datapipeline.deploy', { dag_id: demo_dag, content, run_on_deploy: true })
  return String(deployed.uid)
}

type DemoTask = {
  readonly task_id: string
  readonly state: string | null
  readonly lineage?: {
    readonly dataset?: string
    readonly rows_out: number
    readonly rejects: number
    readonly inputs: readonly { readonly name: string }[]
  }
  readonly requested?: { readonly uid: string }
}

/** Waits for the end of the run, and prints each task as it ends. Throws `CommandFailure` where one fails. */
export async function watchRun(
  { operator }: DemoSite,
  uid: string,
  signal: AbortSignal,
  printLine: (line: string) => void,
): Promise<readonly DemoTask[]> {
  const printed = new Set<string>()
  let tasks: readonly DemoTask[] = []
  await waitUntil('the pipeline', signal, async () => {
    const { status, fault } = await operator.call('ingest.datapipeline.get', { uid })
    if (status === 'rejected') throw new CommandFailure(1, `the pipeline was rejected: ${JSON.stringify(fault)}`)
    if (status === 'pending_validation') return false
    const run = await operator.call('ingest.dag-run.status', { dag_id: demo_dag, dag_run_id })
    tasks = run.tasks as DemoTask[]
    for (const task of tasks.filter(({ task_id, state }) => state === 'success' && !printed.has(task_id))) {
      printed.add(task.task_id)
      if (task.lineage) printLine(`${task.task_id}: ${describeTask(task.lineage)}`)
    }
    if (run.state === 'failed') throw new CommandFailure(1, await describeFailure(operator))
    return run.state === 'success'
  })
  return tasks
}

function describeTask({ rows_out, rejects, inputs }: NonNullable<DemoTask['lineage']>): string {
  return `${rows_out} rows of ${inputs.map(({ name }) => name).join()} landed, ${rejects} rejected`
}

async function describeFailure(operator: DemoSite['operator']): Promise<string> {
  const { items } = await operator.call('ingest.dag-run.errors', { dag_id: demo_dag, dag_run_id })
  const [first] = items as { readonly task_id: string; readonly log: string }[]
  return `the task ${first?.task_id} has failed: ${first?.log.trim()}`
}

export type DemoEntity = { readonly uid: string; readonly members: readonly DemoMember[] }
type DemoMember = { readonly node_id: string; readonly record_id: string }

/** The entity whose records are in the most sources; one of them in the database. */
export async function chooseEntity({ analyst }: DemoSite, run_id: string): Promise<DemoEntity> {
  const { items } = await analyst.call('resolution.entity-cluster.list', { run_id, limit: 100 })
  const entities = (items as ApiObject[]).map(({ uid, members }) => ({
    uid: String(uid),
    members: members as DemoMember[],
  }))
  const countNodes = ({ members }: DemoEntity) => new Set(members.map(({ node_id }) => node_id)).size
  const inDatabase = entities.filter(({ members }) => members.some(({ node_id }) => node_id === 'registry'))
  const [chosen] = inDatabase.toSorted((a, b) => countNodes(b) - countNodes(a))
  if (!chosen) throw new CommandFailure(1, 'no entity has a record in the database')
  return chosen
}
