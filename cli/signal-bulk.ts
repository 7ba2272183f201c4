// Bulk dispositions as people read them, and waiting for one.
import { setTimeout as pause } from 'node:timers/promises'
import type { Answered, Client } from './client/client.ts'
import { fields, type Row, table } from './output.ts'
import { progressLine } from './progress-bar.ts'
import type { Terminal } from './terminal.ts'

const look_every_ms = 200

/** Asks until it is over. It goes on by itself, whether anybody asks or not. */
export async function followedBulk(api: Client, begun: Answered, terminal: Terminal): Promise<Answered> {
  let seen = begun
  try {
    while (seen.state === 'running' || seen.state === 'cancelling') {
      const decided = Number(seen.done) + Number(seen.refused) + Number(seen.cancelled)
      terminal.progress(progressLine(decided, Number(seen.total), `signals; platform signal bulk cancel ${seen.uid}`))
      await pause(look_every_ms)
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
export function bulkText(terminal: Terminal, bulk: Answered): string {
  const { uid, items, classification, ...rest } = bulk
  const { state, disposition, rationale, total, done, refused, cancelled, created_by, created_at } = rest
  const said = fields(terminal, {
    ...{ bulk: uid, state, disposition, rationale, total, done, refused, cancelled },
    ...{ by: created_by, at: created_at, classification: (classification as Row).level },
  })
  const left = ((items ?? []) as readonly Row[]).filter(({ outcome }) => outcome !== 'done')
  if (left.length === 0) return said
  return [said, '', table(terminal, left, ['signal_id', 'outcome', 'reason'], '')].join('\n')
}
