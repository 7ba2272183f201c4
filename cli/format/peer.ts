// A pinned peer as people read it.

import type { Peer } from '../../daemon/kernel/identity/peer.ts'
import type { LabelMap } from '../../daemon/kernel/label/label-map.ts'
import { colourText, formatFields, formatTable } from '../terminal/output.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { addKeyAge, keyColumns } from './key.ts'

export function formatPeer(terminal: Terminal, peer: Peer): string {
  const { keys, ceiling, releasable_names, label_map = {}, ...rest } = peer
  const shown = formatFields(terminal, {
    ...rest,
    ceiling: [ceiling.level, ...ceiling.categories].join(' '),
    releasable_names: releasable_names.join(', ') || undefined,
  })
  const map = Object.entries(label_map).flatMap(([policy, terms]) => listLabelTerms(policy, terms))
  const parts = [shown, formatTable(terminal, addKeyAge(keys, Date.now()), keyColumns, 'no keys')]
  if (map.length > 0) parts.push(formatTable(terminal, map, ['policy', 'term', 'theirs', 'ours'], ''))
  return parts.join('\n\n')
}

function listLabelTerms(policy: string, { levels, categories, releasable_to = {} }: LabelMap[string]) {
  return Object.entries({ level: levels, category: categories, name: releasable_to }).flatMap(([term, map]) =>
    Object.entries(map).map(([theirs, ours]) => ({ policy, term, theirs, ours })),
  )
}

/** Warns of peers that are pinned and may not be spoken to. */
export function noteUnaccreditedPeers(
  terminal: Terminal,
  found: readonly { readonly peer: string; readonly fault: string; readonly remedy: string }[],
): void {
  for (const { peer, fault, remedy } of found) {
    terminal.note(`${colourText(terminal, 'yellow', 'warning:')} the channel to ${peer} may not be used: ${fault}`)
    terminal.note(`  ${remedy}`)
  }
}
