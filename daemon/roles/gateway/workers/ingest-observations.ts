// Stores the observations that wait in the queue of this process, and applies them to the graphs, batch after batch.
import type { Call } from '../../../kernel/operation/call.ts'
import type { Worker } from '../../../kernel/role/role.ts'
import { openTurn } from '../guide/graph/turn.ts'
import { abandonQueue, batch_size, ingestBatch, max_batch_bytes } from '../guide/observation/ingest-batch.ts'
import { ingestQueueDepth } from '../guide/observation/metrics.ts'
import { early_depth, ingest_worker } from '../guide/observation/observe.ts'
import { observerPart } from '../guide/observation/parts.ts'
import { guideSettings } from '../guide/settings.ts'

export const ingestObservations: Worker = { name: ingest_worker, when: { every_ms: 1_000 }, run }

async function run(call: Call): Promise<void> {
  const { enabled, ingest_worker_concurrency: concurrency } = call.settings(guideSettings)
  if (!enabled) return
  const { queue, book, attempt, tasks, stored } = call.part(observerPart)
  for (let least = 1; (queue.depth >= least || tasks.length > 0) && !call.signal.aborted; least = early_depth) {
    for (const task of tasks.splice(0)) await task(call)
    const started_ms = call.monotonic()
    await ingestBatch(call, queue.take(batch_size, max_batch_bytes))
    stored.last_batch_ms = Math.round(call.monotonic() - started_ms)
    call.set(ingestQueueDepth, {}, queue.depth)
  }
  if (call.signal.aborted) return await abandonQueue(call)
  // A process that crashed may have left work behind.
  if (book.seq === undefined) await openTurn(call, { book, attempt, concurrency })
}
