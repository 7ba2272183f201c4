// Formats a pinned peer.

import type { Peer } from '../../daemon/kernel/identity/peer.ts'
import type { LabelMap } from '../../daemon/kernel/label/label-map.ts'
import { colourText, formatFields, formatTable, paragraph_break } from '../terminal/output.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { addKeyAge, keyColumns } from './key.ts'

export function formatPeer(terminal: Terminal, peer: Peer): string {
  const { keys, ceiling, releasable_names, label_map = {}, ...fields } = peer
  const text = formatFields(terminal, {
    ...fields,
    ceiling: [ceiling.level, ...ceiling.categories].join(' '),
    releasable_names: releasable_names.join(', ') || undefined,
  })
  const terms = Object.entries(label_map).flatMap(([policy, map]) => listLabelTerms(policy, map))
  const parts = [text, formatTable(terminal, addKeyAge(keys, Date.now()), keyColumns, 'no keys')]
  if (terms.length > 0) parts.push(formatTable(terminal, terms, ['policy', 'term', 'theirs', 'ours'], ''))
  return parts.join(paragraph_break)
}

function listLabelTerms(policy: string, { levels, categories, releasable_to = {} }: LabelMap[string]) {
  return Object.entries({ level: levels, category: categories, name: releasable_to }).flatMap(([term, terms]) =>
    Object.entries(terms).map(([theirs, ours]) => ({ policy, term, theirs, ours })),
  )
}

/** Warns of contributors of this site under the name of a peer's tenant. The peer is pinned, whether they can be found or not. */
export async function noteNamesakes(
  terminal: Terminal,
  find: () => Promise<readonly { readonly peer: string; readonly contributor: string; readonly remedy: string }[]>,
): Promise<void> {
  const warning = colourText(terminal, 'yellow', 'warning:')
  try {
    for (const { peer, contributor, remedy } of await find()) {
      terminal.note(
        `${warning} ${contributor} is a contributor of this site too, and may not contribute where ${peer} is invited`,
      )
      terminal.note(`  ${remedy}`)
    }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    terminal.note(`${warning} contributors under the name of its tenant were not searched: ${reason}`)
    terminal.note('  platform doctor searches them')
  }
}

/** Warns of pinned peers whose channels the profile does not accredit. */
export function noteUnaccreditedPeers(
  terminal: Terminal,
  unaccredited: readonly { readonly peer: string; readonly fault: string; readonly remedy: string }[],
): void {
  for (const { peer, fault, remedy } of unaccredited) {
    terminal.note(`${colourText(terminal, 'yellow', 'warning:')} the channel to ${peer} may not be used: ${fault}`)
    terminal.note(`  ${remedy}`)
  }
}
