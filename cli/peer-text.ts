// A pinned peer as people read it.
import type { LabelMap } from '../daemon/kernel/label-map.ts'
import type { Peer } from '../daemon/kernel/peer.ts'
import { keyColumns, withAge } from './key-text.ts'
import { fields, paint, table } from './output.ts'
import type { Terminal } from './terminal.ts'

export function peerText(terminal: Terminal, peer: Peer): string {
  const { keys, ceiling, releasable_names, label_map = {}, ...rest } = peer
  const shown = fields(terminal, {
    ...rest,
    ceiling: [ceiling.level, ...ceiling.categories].join(' '),
    releasable_names: releasable_names.join(', ') || undefined,
  })
  const map = Object.entries(label_map).flatMap(([policy, terms]) => termsOf(policy, terms))
  const parts = [shown, table(terminal, withAge(keys, Date.now()), keyColumns, 'no keys')]
  if (map.length > 0) parts.push(table(terminal, map, ['policy', 'term', 'theirs', 'ours'], ''))
  return parts.join('\n\n')
}

function termsOf(policy: string, { levels, categories, releasable_to = {} }: LabelMap[string]) {
  return Object.entries({ level: levels, category: categories, name: releasable_to }).flatMap(([term, map]) =>
    Object.entries(map).map(([theirs, ours]) => ({ policy, term, theirs, ours })),
  )
}

/** Warns of peers that are pinned and may not be spoken to. */
export function noteUnaccredited(
  terminal: Terminal,
  found: readonly { readonly peer: string; readonly fault: string; readonly remedy: string }[],
): void {
  for (const { peer, fault, remedy } of found) {
    terminal.note(`${paint(terminal, 'yellow', 'warning:')} the channel to ${peer} may not be used: ${fault}`)
    terminal.note(`  ${remedy}`)
  }
}
