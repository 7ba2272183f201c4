// Raises a signal for each failed run, soon after its end and again after failures.
import { isRefusal } from '../../../kernel/error/errors.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import type { Worker } from '../../../kernel/role/role.ts'
import { iterateDocuments } from '../../../kernel/store/iterate-documents.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import { failureReports } from '../failure-report/model.ts'
import { signalFailure, signalReport } from '../failure-report/signal-failure.ts'
import { failureSignalTotal } from '../metrics.ts'
import { failure_signals_worker } from '../runner/announce-end.ts'
import { dagRuns } from '../runner/model.ts'

export const failureSignals: Worker = { name: failure_signals_worker, when: { every_ms: 15_000 }, run }

async function run(call: Call): Promise<void> {
  const unsignalled = { filter: { unsignalled: 1 }, fresh: true, page_size: 100 }
  await signalEach(call, iterateDocuments(call.store(dagRuns), unsignalled), signalFailure)
  await signalEach(call, iterateDocuments(call.store(failureReports), { fresh: true, page_size: 100 }), signalReport)
}

async function signalEach<T>(
  call: Call,
  failures: AsyncIterable<Doc<T>>,
  signal: (call: Call, failure: Doc<T>) => Promise<void>,
): Promise<void> {
  for await (const failure of failures) {
    if (call.signal.aborted) return
    try {
      await signal(call, failure)
    } catch (error) {
      const fields = { trace_id: call.trace.trace_id, run: failure.id, error: String(error) }
      call.count(failureSignalTotal, { outcome: 'delayed' })
      if (isRefusal(error) && error.row.retryable) {
        // The next runs would meet the same.
        call.log.warn('ingest.run.signal-delayed', fields)
        return
      }
      // One that fails must not hold up those after it.
      call.log.error('ingest.run.signal-failed', fields)
    }
  }
}
