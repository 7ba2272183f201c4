// Takes files of five kinds and a database in by a pipeline, resolves them, and follows an entity back to their lines, with nothing installed.
import { join } from 'node:path'
import { offline } from '../../../daemon/offline/offline.ts'
import { chooseEntity, deployBranches, watchRun, writeBranches } from '../../demo/branches.ts'
import { type DemoSite, makeDemoSite, startDemoSite } from '../../demo/demo-site.ts'
import { type DemoStudio, demoOptions, performDemo } from '../../demo/perform-demo.ts'
import { formatRowOrigin } from '../../format/row-origin.ts'
import { command } from '../../program/command.ts'

const tenant = 'alpha'

export const definition = command({
  words: 'demo ingest',
  summary: 'Take files of five kinds and a database in, resolve them, and follow an entity back to their lines',
  notes: [
    'Makes a site in DIR and runs it as a daemon. A pipeline of it reads CSV with German names of columns in an older',
    'encoding, JSON lines, XML, Parquet, a workbook and a table of a database; lands each as a dataset; and resolves the',
    'customers of all of them. Needs no network.',
  ].join('\n'),
  options: demoOptions,
  example: 'platform demo ingest --dir ./demo --keep',
  run: (params, terminal) => performDemo(params, terminal, runDemo),
})

async function runDemo(studio: DemoStudio) {
  const { step, printLine, signal } = studio
  step('1. Create a site, and put the sources into its data folder')
  const site = await startSite(studio)

  step('2. Deploy a pipeline that reads, lands and resolves them')
  const uid = await deployBranches(site)
  const tasks = await watchRun(site, uid, signal, printLine)
  const run_id = tasks.find(({ requested }) => requested)?.requested?.uid ?? ''
  const run = await site.analyst.call('resolution.fusion-run.status', { run_id })
  const { records, entities, clusters } = run.counts as Record<string, number>
  printLine(`resolve: ${records} records are ${entities} customers; ${clusters} of them have several records`)

  step('3. Follow one customer back to the lines')
  const entity = await chooseEntity(site, run_id)
  const datasetOf = new Map(tasks.map(({ task_id, lineage }) => [task_id, lineage?.dataset]))
  const origins = await traceMembers(site, entity.members, datasetOf)
  printLine(`entity ${entity.uid}: ${entity.members.length} records`)
  for (const { node_id, record_id, rows } of origins) {
    printLine(`  ${node_id}:${record_id}`)
    for (const line of rows.flatMap((row) => formatRowOrigin(row, 2))) printLine(line)
  }

  const seconds = studio.seconds()
  step(`Done in ${seconds} s`)
  printLine(studio.keep ? `everything is in ${studio.dir}` : 'temporary files removed; --keep keeps them')
  const landed = tasks.flatMap(({ task_id, lineage }) => (lineage ? [{ task: task_id, ...lineage }] : []))
  return { landed, resolution: { run_id, records, entities, clusters }, entity: { uid: entity.uid, origins }, seconds }
}

async function startSite({ dir, running, signal, printLine }: DemoStudio): Promise<DemoSite> {
  const [home, data] = [join(dir, tenant), join(dir, 'sources')]
  await makeDemoSite(home, tenant)
  for (const file of await writeBranches(tenant, data)) printLine(file)
  const roles = ['site', 'ingest', 'resolution']
  const site = await startDemoSite(
    home,
    tenant,
    { roles, env: { PIPELINE_PORT: '0', PIPELINE_DATA_FOLDER: data } },
    signal,
  )
  running.push(site)
  return site
}

type Member = { readonly node_id: string; readonly record_id: string }

async function traceMembers(
  { folder }: DemoSite,
  members: readonly Member[],
  datasetOf: ReadonlyMap<string, string | undefined>,
) {
  const { findRowOrigins } = await offline.rowOrigins()
  const traced = []
  for (const { node_id, record_id } of members) {
    const dataset = join(folder.data, 'ingest', 'datasets', tenant, datasetOf.get(node_id) ?? '')
    const { rows } = await findRowOrigins({ folder: dataset, where: { column: 'id', value: record_id } })
    traced.push({ node_id, record_id, rows })
  }
  return traced
}
