// Follows an entity of the service back to the data of its records, by what the caller may read there and the datasets on this machine.
import * as z from 'zod'
import { isRefusal } from '../../daemon/kernel/error/errors.ts'
import { offline, type SiteFolder } from '../../daemon/offline/offline.ts'
import type { ServiceClient } from './client.ts'
import { fetchItems } from './fetch-items.ts'

type RowOriginFinder = Awaited<ReturnType<typeof offline.rowOrigins>>['findRowOrigins']
type TracedRow = Awaited<ReturnType<RowOriginFinder>>['rows'][number]

const entityRecord = z.looseObject({
  ref: z.looseObject({ node_id: z.string(), record_id: z.string() }),
  run_id: z.string(),
  arrived_at: z.string().optional(),
})
type EntityRecord = z.output<typeof entityRecord>

const sourceDataset = z.looseObject({
  ...{ dag_id: z.string(), dag_run_id: z.string(), task: z.string(), name: z.string(), digest: z.string() },
})
type SourceDataset = z.output<typeof sourceDataset>

const runSource = z.looseObject({
  node_id: z.string(),
  file: z.string().optional(),
  dataset: sourceDataset.optional(),
})

const resolutionRun = z.looseObject({
  tenant_id: z.string(),
  lens_id: z.string(),
  id_field: z.string().optional(),
  sources: z.array(runSource),
})
type ResolutionRun = z.output<typeof resolutionRun>

const lensVersion = z.looseObject({ body: z.looseObject({ id_field: z.string() }) })

/** `unreadable`: the caller may not see the run that landed the dataset, or it is not there any more. */
type DatasetState = 'found' | 'gone' | 'replaced' | 'unreadable'

export type RegistryRecordOrigin = {
  readonly source: string
  readonly id: string
  /** The latest run of the resolution role that had the record. */
  readonly run_id: string
  /** `none`: the run has no source of this name, as with records of a peer. */
  readonly came_by: 'dataset' | 'file' | 'request' | 'arrival' | 'none'
  readonly arrived_at?: string
  readonly file?: string
  readonly dataset?: SourceDataset & { readonly state: DatasetState }
  /** Absent where the dataset was not found, or has no such row. */
  readonly origin?: TracedRow
}

export type RegistryEntityOrigin = {
  readonly entity: string
  readonly records: readonly RegistryRecordOrigin[]
  /** Records beyond those that are traced. */
  readonly left_out?: number
}

const max_records = 1_000

/** The datasets are where its profile says. */
type TracedSite = { readonly folder: SiteFolder; readonly env: Readonly<Record<string, string | undefined>> }

/** Throws the refusals of the service, and `OfflineCommandError`: 1 where datasets cannot be read, 5 where one is damaged. */
export async function traceRegistryEntity(
  api: ServiceClient,
  site: TracedSite,
  entity: string,
): Promise<RegistryEntityOrigin> {
  const page = await fetchItems(api, 'resolution.entity-record.list', { uid: entity }, { limit: max_records })
  const records = z.array(entityRecord).parse(page.items).toSorted(bySource)
  const origins = new Map<EntityRecord, RegistryRecordOrigin>()
  for (const run_id of new Set(records.map((each) => each.run_id))) {
    const ofRun = records.filter((each) => each.run_id === run_id)
    const run = resolutionRun.parse(await api.call('resolution.fusion-run.status', { run_id }))
    for (const node_id of new Set(ofRun.map(({ ref }) => ref.node_id)))
      for (const [record, origin] of await traceSource(
        { api, site, run },
        node_id,
        ofRun.filter(({ ref }) => ref.node_id === node_id),
      ))
        origins.set(record, origin)
  }
  const left_out = page.total - records.length
  return {
    entity,
    records: records.flatMap((record) => origins.get(record) ?? []),
    ...(left_out > 0 && { left_out }),
  }
}

function bySource({ ref: a }: EntityRecord, { ref: b }: EntityRecord): number {
  if (a.node_id !== b.node_id) return a.node_id < b.node_id ? -1 : 1
  return a.record_id < b.record_id ? -1 : Number(a.record_id > b.record_id)
}

type RunTrace = { readonly api: ServiceClient; readonly site: TracedSite; readonly run: ResolutionRun }

async function traceSource(
  { api, site, run }: RunTrace,
  node_id: string,
  records: readonly EntityRecord[],
): Promise<(readonly [EntityRecord, RegistryRecordOrigin])[]> {
  const { file, dataset } = run.sources.find((each) => each.node_id === node_id) ?? {}
  const isSource = run.sources.some((each) => each.node_id === node_id)
  const came_by = dataset ? 'dataset' : file !== undefined ? 'file' : isSource ? 'request' : 'none'
  const ofRun = records.filter(({ arrived_at }) => arrived_at === undefined)
  const ids = ofRun.map(({ ref }) => ref.record_id)
  const found = dataset && ids.length > 0 ? await findRows({ api, site, run }, dataset, ids) : undefined
  const rows = found && 'rows' in found ? found.rows : undefined
  return records.map((record) => {
    const { ref, run_id, arrived_at } = record
    const named = { source: node_id, id: ref.record_id, run_id }
    if (arrived_at !== undefined) return [record, { ...named, came_by: 'arrival', arrived_at }]
    const origin = rows?.get(ref.record_id)
    return [
      record,
      {
        ...{ ...named, came_by, ...(file !== undefined && { file }) },
        ...(dataset && found && { dataset: { ...dataset, state: found.state } }),
        ...(origin && { origin }),
      },
    ]
  })
}

async function findRows({ api, site, run }: RunTrace, dataset: SourceDataset, ids: readonly string[]) {
  const { dag_id, dag_run_id, name, digest } = dataset
  // The files on this machine know no rights: the role that landed the dataset does.
  if (!(await mayReadRun(api, { dag_id, dag_run_id }))) return { state: 'unreadable' as const }
  const lens = lensVersion.parse(await api.call('resolution.lens.get', { uid: run.lens_id }))
  const id_column = run.id_field ?? lens.body.id_field
  const { findTaskDatasetRows } = await offline.taskDatasetRows()
  return await findTaskDatasetRows(site, { tenant_id: run.tenant_id, name, digest, id_column, ids })
}

async function mayReadRun(api: ServiceClient, run: { readonly dag_id: string; readonly dag_run_id: string }) {
  try {
    await api.call('ingest.dag-run.status', run)
    return true
  } catch (error) {
    if (isRefusal(error) && error.code === 'not_found') return false
    throw error
  }
}
