// Sends the lineage of runs that are over to the sinks of the profile, each run until every sink has it.
import { dominates } from '../../../kernel/label/label.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import type { Worker } from '../../../kernel/role/role.ts'
import { iterateDocuments } from '../../../kernel/store/iterate-documents.ts'
import type { Collection, Doc } from '../../../kernel/store/store.ts'
import { buildRunEvents, describeRun, type LineageRun } from '../lineage/open-lineage.ts'
import { lineageSinksPart } from '../lineage/sink.ts'
import { lineageTotal } from '../metrics.ts'
import { runWatches, type StoredRunWatch } from '../run-watch/model.ts'
import { dagRuns, type StoredDagRun } from '../runner/model.ts'

export const lineageEvents: Worker = { name: 'lineage-events', when: { every_ms: 15_000 }, run }

/** A run is reported again after a failure of one of two sinks: receivers know events by the id of their run and their type. */
async function run(call: Call): Promise<void> {
  if (call.part(lineageSinksPart).length === 0) return
  if (await reportEach(call, dagRuns, describeRun)) await reportEach(call, runWatches, describeWatched)
}

type ReportedDocument = Pick<StoredDagRun | StoredRunWatch, 'tenant_id' | 'label' | 'unreported'>

/** False where a sink does not take more now. */
async function reportEach<T extends ReportedDocument>(
  call: Call,
  collection: Collection<T>,
  describe: (value: T) => LineageRun,
): Promise<boolean> {
  const unreported = { filter: { unreported: 1 }, fresh: true, page_size: 100 }
  for await (const doc of iterateDocuments(call.store(collection), unreported)) {
    if (call.signal.aborted) return false
    try {
      await report(call, collection, doc, describe(doc.value))
    } catch (error) {
      // The next runs would meet the same.
      call.count(lineageTotal, { outcome: 'delayed' })
      call.log.warn('ingest.lineage.delayed', { run: doc.id, error: String(error) })
      return false
    }
  }
  return true
}

/** A run of another scheduler, as it showed the end. */
function describeWatched({ ended, is_stopped = false, ...watch }: StoredRunWatch): LineageRun {
  const { tenant_id, created_at, dag_id, dag_digest } = watch
  const { state = 'failed', tasks = [], ...times } = ended ?? {}
  return { ...{ tenant_id, created_at, dag_id, dag_digest, isStopped: is_stopped, state, tasks }, ...times }
}

async function report<T extends ReportedDocument>(
  call: Call,
  collection: Collection<T>,
  { id, value }: Doc<T>,
  run: LineageRun,
): Promise<void> {
  const events = buildRunEvents(id, run, { site: call.site.name, producer: 'urn:platform:ingest' })
  for (const sink of call.part(lineageSinksPart)) {
    const reader = { tenant_id: value.tenant_id, clearance: sink.clearance }
    if (events.length > 0 && dominates(reader, value.label, call.site.labels)) await sink.write(events, call)
  }
  if (!(await call.store(collection).find(id))) return
  await call.store(collection).update(id, ({ value: stored }) => {
    return { next: { ...stored, unreported: undefined }, answer: undefined }
  })
  call.count(lineageTotal, { outcome: 'sent' })
}
