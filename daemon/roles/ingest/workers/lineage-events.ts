// Sends the lineage of runs that are over to the sinks of the profile, each run until every sink has it.
import { dominates } from '../../../kernel/label/label.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import type { Worker } from '../../../kernel/role/role.ts'
import { iterateDocuments } from '../../../kernel/store/iterate-documents.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import { buildRunEvents } from '../lineage/open-lineage.ts'
import { lineageSinksPart } from '../lineage/sink.ts'
import { lineageTotal } from '../metrics.ts'
import { dagRuns, type StoredDagRun } from '../runner/model.ts'

export const lineageEvents: Worker = { name: 'lineage-events', when: { every_ms: 15_000 }, run }

/** A run is reported again after a failure of one of two sinks: receivers know events by the id of their run and their type. */
async function run(call: Call): Promise<void> {
  const sinks = call.part(lineageSinksPart)
  if (sinks.length === 0) return
  const unreported = { filter: { unreported: 1 }, fresh: true, page_size: 100 }
  for await (const doc of iterateDocuments(call.store(dagRuns), unreported)) {
    if (call.signal.aborted) return
    try {
      await report(call, doc)
    } catch (error) {
      // The next runs would meet the same.
      call.count(lineageTotal, { outcome: 'delayed' })
      call.log.warn('ingest.lineage.delayed', { run: doc.id, error: String(error) })
      return
    }
  }
}

async function report(call: Call, { id, value }: Doc<StoredDagRun>): Promise<void> {
  const events = buildRunEvents(id, value, { site: call.site.name, producer: 'urn:platform:ingest' })
  for (const sink of call.part(lineageSinksPart)) {
    const reader = { tenant_id: value.tenant_id, clearance: sink.clearance }
    if (events.length > 0 && dominates(reader, value.label, call.site.labels)) await sink.write(events, call)
  }
  const settled = await call.store(dagRuns).find(id)
  if (!settled) return
  await call.store(dagRuns).update(id, ({ value: { unreported: _unreported, ...next } }) => {
    return { next, answer: undefined }
  })
  call.count(lineageTotal, { outcome: 'sent' })
}
