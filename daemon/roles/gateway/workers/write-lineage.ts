// Stores which artifacts were attached to traces: in batches, beside the responses and calls.
import type { Call } from '../../../kernel/operation/call.ts'
import type { Worker } from '../../../kernel/role/role.ts'
import { lineageDroppedTotal } from '../guide/guidance/metrics.ts'
import { guidancePart } from '../guide/guidance/parts.ts'
import { lineageEvents } from '../guide/lineage/model.ts'
import { buildLineage, type LineageDocument } from '../guide/lineage/rules.ts'
import { guideSettings } from '../guide/settings.ts'

export const writeLineage: Worker = { name: 'write-lineage', when: { every_ms: 1_000 }, run }

/** Some hundreds of events at most: each is hashed in one turn of the event loop. */
const attachments_per_batch = 5
const day_ms = 86_400_000

async function run(call: Call): Promise<void> {
  const { lineage } = call.part(guidancePart)
  const retention_ms = call.settings(guideSettings).lineage_retention_days * day_ms
  while (lineage.size > 0 && !call.signal.aborted) {
    const taken = lineage.take(attachments_per_batch)
    await write(
      call,
      taken.flatMap((attachment) => buildLineage(attachment, retention_ms)),
    )
  }
}

/** What cannot be written is lost, and counted: a store that fails must not fill the memory. */
async function write(call: Call, documents: readonly LineageDocument[]): Promise<void> {
  try {
    await call.store(lineageEvents).bulk(documents.map((document) => ({ do: 'create', ...document })))
  } catch (error) {
    call.count(lineageDroppedTotal, { reason: 'store' }, documents.length)
    const { trace_id } = call.trace
    call.log.warn('gateway.guide.lineage_lost', { trace_id, events: documents.length, reason: String(error) })
  }
}
