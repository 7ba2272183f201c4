// Bulk dispositions as people read them, and waiting for one.
import { setTimeout as pause } from 'node:timers/promises'
import type { ApiObject, ServiceClient } from '../client/client.ts'
import { formatFields, formatTable, type OutputRow } from '../terminal/output.ts'
import { formatProgress } from '../terminal/progress-bar.ts'
import type { Terminal } from '../terminal/terminal.ts'

const poll_interval_ms = 200

/** Asks until it is over. It goes on by itself, whether anybody asks or not. */
export async function waitForBulk(api: ServiceClient, begun: ApiObject, terminal: Terminal): Promise<ApiObject> {
  let seen = begun
  try {
    while (seen.state === 'running' || seen.state === 'cancelling') {
      const decided = Number(seen.done) + Number(seen.refused) + Number(seen.cancelled)
      terminal.progress(formatProgress(decided, Number(seen.total), `signals; platform signal bulk cancel ${seen.uid}`))
      await pause(poll_interval_ms)
      seen = await api.call('intelligence.bulk.get', { uid: begun.uid })
    }
  } finally {
    terminal.progress('')
  }
  return seen
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

/** What came of it, and each signal that it did not move. */
export function formatBulk(terminal: Terminal, bulk: ApiObject): string {
  const { uid, items, classification, ...rest } = bulk
  const { state, disposition, rationale, total, done, refused, cancelled, created_by, created_at } = rest
  const said = formatFields(terminal, {
    ...{ bulk: uid, state, disposition, rationale, total, done, refused, cancelled },
    ...{ by: created_by, at: created_at, classification: (classification as OutputRow).level },
  })
  const left = ((items ?? []) as readonly OutputRow[]).filter(({ outcome }) => outcome !== 'done')
  if (left.length === 0) return said
  return [said, '', formatTable(terminal, left, ['signal_id', 'outcome', 'reason'], '')].join('\n')
}
