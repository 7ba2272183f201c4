// The events of a run that is over, in the format of OpenLineage 2-0-2 (https://openlineage.io/spec): a start and an end of the
// run and of each task that was tried, with the inputs and outputs of the task.
import { canonicalDigest } from '../../../kernel/encoding/canonical-json.ts'
import type { TaskLineage } from '../../../shared/workflow-scheduler/workflow-scheduler.ts'
import type { RunTask, StoredDagRun } from '../runner/model.ts'
import { pickPinned, showLineage } from '../runner/show-lineage.ts'

const schema = 'https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent'

type Facet = { readonly _producer: string; readonly _schemaURL: string } & Readonly<Record<string, unknown>>
type Facets = Readonly<Record<string, Facet>>
type JobName = { readonly namespace: string; readonly name: string }
type LineageDataset = JobName & {
  readonly facets?: Facets
  readonly inputFacets?: Facets
  readonly outputFacets?: Facets
}

export type LineageEvent = {
  readonly eventType: 'START' | 'COMPLETE' | 'FAIL' | 'ABORT'
  readonly eventTime: string
  readonly run: { readonly runId: string; readonly facets: Facets }
  readonly job: JobName
  readonly inputs: readonly LineageDataset[]
  readonly outputs: readonly LineageDataset[]
  readonly producer: string
  readonly schemaURL: string
}

/** `site`: the name of the site; `producer`: a URI of this program. */
export type LineageOrigin = { readonly site: string; readonly producer: string }

type LineageTask = Pick<RunTask, 'name' | 'tries' | 'state' | 'started_at' | 'ended_at' | 'catalog_version'> & {
  readonly lineage?: TaskLineage | undefined
}

/** A run of any scheduler. */
export type LineageRun = Pick<
  StoredDagRun,
  'tenant_id' | 'created_at' | 'dag_id' | 'started_at' | 'ended_at' | 'reason' | 'state' | 'commit' | 'catalog_version'
> & { readonly dag_digest?: string | undefined; readonly isStopped: boolean; readonly tasks: readonly LineageTask[] }

/** A run of the embedded scheduler. */
export function describeRun({ job, tasks, ...run }: StoredDagRun): LineageRun {
  const described = tasks.map((task) => ({ ...task, lineage: showLineage(task) }))
  return { ...run, isStopped: job.state === 'cancelled', tasks: described }
}

/** Empty for a run that is not over. `id`: of its document. The same for the same run, so that receivers see repeats. */
export function buildRunEvents(id: string, run: LineageRun, origin: LineageOrigin): LineageEvent[] {
  const { ended_at, started_at = ended_at, tasks, dag_id, created_at } = run
  if (ended_at === undefined || started_at === undefined) return []
  const namer = new LineageNamer(origin, run.tenant_id)
  const ofRun = { runId: namer.runId([id, created_at]), job: namer.job(dag_id) }
  const whole = namer.event(ofRun, {
    pipeline: namer.facet('RunFacet', { dag_digest: run.dag_digest, ...pickPinned(run) }),
  })
  const ends = run.reason === undefined ? {} : { errorMessage: namer.error(run.reason) }
  return [
    whole('START', started_at, {}),
    ...tasks.flatMap((task) => buildTaskEvents(namer, [id, created_at], run, task, ofRun)),
    whole(run.state === 'success' ? 'COMPLETE' : run.isStopped ? 'ABORT' : 'FAIL', ended_at, ends),
  ]
}

type NamedRun = { readonly runId: string; readonly job: JobName }

function buildTaskEvents(
  namer: LineageNamer,
  key: readonly string[],
  run: LineageRun,
  task: LineageTask,
  parent: NamedRun,
): LineageEvent[] {
  const { name, started_at, ended_at, state, tries, catalog_version } = task
  if (started_at === undefined || ended_at === undefined) return []
  const ofTask = { runId: namer.runId([...key, name]), job: namer.job(`${run.dag_id}.${name}`) }
  const { runId } = parent
  const facets = {
    parent: namer.standardFacet('ParentRunFacet', '1-0-1', { run: { runId }, job: parent.job }),
    task: namer.facet('TaskFacet', { tries, ...(catalog_version === undefined ? {} : { catalog_version }) }),
  }
  const event = namer.event(ofTask, facets)
  const hasFailed = state !== 'success'
  const ends = hasFailed ? { errorMessage: namer.error(`the task ${name} failed: its log says why`) } : {}
  return [
    event('START', started_at, {}),
    event(hasFailed ? 'FAIL' : 'COMPLETE', ended_at, ends, listDatasets(namer, run, task)),
  ]
}

/** An input that is the dataset of a task before has the name of that dataset. */
function listDatasets(namer: LineageNamer, { tasks }: LineageRun, { lineage }: LineageTask) {
  if (!lineage) return undefined
  const datasetOf = new Map(
    tasks.flatMap(({ lineage: made }) => (made?.dataset === undefined ? [] : [[made.digest, made.dataset]])),
  )
  const inputs = lineage.inputs.map(({ name, digest, rows, bytes }) => ({
    ...(datasetOf.has(digest) ? namer.dataset(datasetOf.get(digest) ?? name) : namer.file(name)),
    facets: { version: namer.version(digest) },
    inputFacets: {
      inputStatistics: namer.standardFacet('InputStatisticsInputDatasetFacet', '1-0-0', {
        ...(rows === undefined ? {} : { rowCount: rows }),
        size: bytes,
      }),
    },
  }))
  const { dataset, file = '', digest, rows_out, rejects, bytes } = lineage
  const output = {
    ...(dataset === undefined ? namer.file(file) : namer.dataset(dataset)),
    facets: { version: namer.version(digest), rejects: namer.facet('RejectsFacet', { rows: rejects }) },
    outputFacets: {
      outputStatistics: namer.standardFacet('OutputStatisticsOutputDatasetFacet', '1-0-2', {
        rowCount: rows_out,
        size: bytes,
      }),
    },
  }
  return { inputs, outputs: [output] }
}

/** Names of one tenant of a site, and facets of one producer. */
class LineageNamer {
  readonly #namespace: string
  readonly #producer: string

  constructor({ site, producer }: LineageOrigin, tenant_id: string) {
    this.#namespace = `platform://${encodeURIComponent(site)}/${encodeURIComponent(tenant_id)}`
    this.#producer = producer
  }

  job = (name: string): JobName => ({ namespace: this.#namespace, name })
  dataset = (name: string): JobName => ({ namespace: this.#namespace, name: `dataset/${name}` })
  file = (name: string): JobName => ({ namespace: this.#namespace, name: `file/${name}` })

  /** A UUID of version 8 (RFC 9562): a digest of what identifies the run. */
  runId(key: readonly string[]): string {
    const hex = canonicalDigest([this.#namespace, ...key])
    const variant = ((Number.parseInt(hex.slice(16, 17), 16) & 0x3) | 0x8).toString(16)
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`
  }

  /** Of the format itself. */
  standardFacet(name: string, version: string, fields: Readonly<Record<string, unknown>>): Facet {
    const url = `https://openlineage.io/spec/facets/${version}/${name}.json#/$defs/${name}`
    return { _producer: this.#producer, _schemaURL: url, ...fields }
  }

  /** Of this program. */
  facet(name: string, fields: Readonly<Record<string, unknown>>): Facet {
    return { _producer: this.#producer, _schemaURL: `${this.#producer}#${name}`, ...fields }
  }

  version = (digest: string) => this.standardFacet('DatasetVersionDatasetFacet', '1-0-1', { datasetVersion: digest })

  error = (message: string) =>
    this.standardFacet('ErrorMessageRunFacet', '1-0-1', { message, programmingLanguage: 'none' })

  event =
    ({ runId, job }: NamedRun, facets: Facets) =>
    (
      eventType: LineageEvent['eventType'],
      eventTime: string,
      more: Facets,
      data?: Pick<LineageEvent, 'inputs' | 'outputs'>,
    ): LineageEvent => ({
      ...{ eventType, eventTime, run: { runId, facets: { ...facets, ...more } }, job },
      ...{ inputs: data?.inputs ?? [], outputs: data?.outputs ?? [] },
      ...{ producer: this.#producer, schemaURL: schema },
    })
}
