// Formats silences as text.
import type { ApiObject } from '../client/client.ts'
import { formatFields, type OutputRow } from '../terminal/output.ts'
import type { Terminal } from '../terminal/terminal.ts'

/** `source name buoy-*; severity low, info` */
function formatMatchers({ matchers }: OutputRow): string {
  const fields = Object.entries(matchers as Readonly<Record<string, readonly string[]>>)
  return fields.map(([name, values]) => `${name.replaceAll('_', ' ')} ${values.join(', ')}`).join('; ')
}

export const silenceColumns = [
  'uid',
  'state',
  'owner',
  'reason',
  { heading: 'matches', cell: formatMatchers },
  'starts_at',
  { heading: 'ends at', cell: (row: OutputRow) => row.ended_at ?? row.ends_at },
  'silenced',
]

export function formatSilence(terminal: Terminal, silence: ApiObject): string {
  const { uid, state, owner, reason, comment, starts_at, ends_at, ended_at, ended_by, ended_because } = silence
  return formatFields(terminal, {
    ...{ silence: uid, state, matches: formatMatchers(silence), owner, reason, comment },
    ...{ starts: starts_at, ends: ends_at, ended: ended_at, ended_by, ended_because },
    ...{ silenced: silence.silenced, by: silence.created_by },
    classification: (silence.classification as OutputRow).level,
  })
}
