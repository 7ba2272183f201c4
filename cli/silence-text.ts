// Silences as people read them.
import type { Answered } from './client/client.ts'
import { fields, type Row } from './output.ts'
import type { Terminal } from './terminal.ts'

/** `source name buoy-*; severity low, info` */
function matchersOf({ matchers }: Row): string {
  const named = Object.entries(matchers as Readonly<Record<string, readonly string[]>>)
  return named.map(([name, values]) => `${name.replaceAll('_', ' ')} ${values.join(', ')}`).join('; ')
}

export const silenceColumns = [
  'uid',
  'state',
  'owner',
  'reason',
  { heading: 'matches', cell: matchersOf },
  'starts_at',
  { heading: 'ends at', cell: (row: Row) => row.ended_at ?? row.ends_at },
  'silenced',
]

export function silenceText(terminal: Terminal, silence: Answered): string {
  const { uid, state, owner, reason, comment, starts_at, ends_at, ended_at, ended_by, ended_because } = silence
  return fields(terminal, {
    ...{ silence: uid, state, matches: matchersOf(silence), owner, reason, comment },
    ...{ starts: starts_at, ends: ends_at, ended: ended_at, ended_by, ended_because },
    ...{ silenced: silence.silenced, by: silence.created_by },
    classification: (silence.classification as Row).level,
  })
}
