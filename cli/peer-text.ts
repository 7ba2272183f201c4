// A pinned peer as people read it.
import type { Peer } from '../daemon/kernel/peer.ts'
import { keyColumns } from './key-text.ts'
import { fields, table } from './output.ts'
import type { Terminal } from './terminal.ts'

export function peerText(terminal: Terminal, peer: Peer): string {
  const { keys, ceiling, releasable_names, ...rest } = peer
  const shown = fields(terminal, {
    ...rest,
    ceiling: [ceiling.level, ...ceiling.categories].join(' '),
    releasable_names: releasable_names.join(', ') || undefined,
  })
  return `${shown}\n\n${table(terminal, keys, keyColumns, 'no keys')}`
}
