// Formats bulk dispositions as text, and waits for one to finish.
import { setTimeout as pause } from 'node:timers/promises'
import type { ApiObject, ServiceClient } from '../client/client.ts'
import { formatFields, formatTable, line_break, type OutputRow } from '../terminal/output.ts'
import { formatProgress } from '../terminal/progress-bar.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { formatDelay } from './job-delay.ts'

const poll_interval_ms = 200

/** Polls until the bulk disposition has finished. It runs in the service, also if this command is interrupted. */
export async function waitForBulk(api: ServiceClient, bulk: ApiObject, terminal: Terminal): Promise<ApiObject> {
  let latest = bulk
  try {
    while (latest.state === 'running' || latest.state === 'cancelling') {
      const decided = Number(latest.done) + Number(latest.refused) + Number(latest.cancelled)
      terminal.progress(
        formatProgress(decided, Number(latest.total), `signals; platform signal bulk cancel ${latest.uid}`),
      )
      await pause(poll_interval_ms)
      latest = await api.call('intelligence.bulk.get', { uid: bulk.uid })
    }
  } finally {
    terminal.progress('')
  }
  return latest
}

export const bulkColumns = [
  'uid',
  'state',
  'disposition',
  'total',
  'done',
  'refused',
  'cancelled',
  'created_at',
  'rationale',
]

/** The counts of a bulk disposition, then each signal that it did not change. */
export function formatBulk(terminal: Terminal, bulk: ApiObject): string {
  const { uid, items, classification, ...fields } = bulk
  const { state, disposition, rationale, total, done, refused, cancelled, created_by, created_at } = fields
  const { reason: failure } = (fields.failure ?? {}) as OutputRow
  const text = formatFields(terminal, {
    ...{ bulk: uid, state, disposition, rationale, total, done, refused, cancelled, failure },
    ...formatDelay(fields),
    ...{ by: created_by, at: created_at, classification: (classification as OutputRow).level },
  })
  const unchanged = ((items ?? []) as readonly OutputRow[]).filter(({ outcome }) => outcome !== 'done')
  if (unchanged.length === 0) return text
  return [text, '', formatTable(terminal, unchanged, ['signal_id', 'outcome', 'reason'], '')].join(line_break)
}
