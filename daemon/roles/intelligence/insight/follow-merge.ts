// Who stands for a linked signal in an insight: pure steps that follow when signals are merged and taken out again.
import type { NewLedgerEvent } from '../ledger/model.ts'
import type { AttributedAction } from '../signal/rules.ts'
import type { StoredInsight } from './model.ts'
import {
  addLink,
  addToOutbox,
  buildFollowEntry,
  checkNotClosed,
  type LinkableSignal,
  recordLedgerEvents,
} from './rules.ts'

/** Who stands for a merged signal. `holds`: whether the label of the insight holds its label, so that it may be linked. */
export type MergeSurvivor = LinkableSignal & { readonly holds: boolean }

/**
 * Another signal stands for a linked one from now on, and is linked in its place; undefined: none does any more, and what was
 * linked for it alone is not. A closed insight stays as it was closed.
 */
export function followMerge(
  current: StoredInsight,
  signal_id: string,
  stand: MergeSurvivor | undefined,
  deed: AttributedAction,
): StoredInsight {
  const before = current.links.find((each) => each.signal_id === signal_id)
  if (!before || checkNotClosed(current)) return current
  if (before.merged_into === stand?.signal_id)
    return stand ? repeatFollowEntry(current, signal_id, stand, deed) : current
  const left = before.merged_into === undefined ? current : removeSurvivor(current, before.merged_into, signal_id, deed)
  const known = left.links.find((each) => each.signal_id === stand?.signal_id)
  // Where nobody that may be linked stands for it, closing waits for the signal itself.
  if (!stand || (!known && !stand.holds)) return left
  const links = left.links.map((each) => {
    return each.signal_id === signal_id ? { ...each, merged_into: stand.signal_id } : each
  })
  const { by, at } = deed
  const told: NewLedgerEvent = { type: 'signal_merged', by, at, signal_id, into: stand.signal_id }
  const noted = recordLedgerEvents({ ...left, updated_at: at, links }, [told])
  if (!known) return addLink(noted, stand, deed, signal_id)
  if (!known.via) return noted
  const via = [...known.via, signal_id]
  const more = noted.links.map((each) => (each.signal_id === stand.signal_id ? { ...each, via } : each))
  return addToOutbox({ ...noted, links: more }, [buildFollowEntry(noted, stand.signal_id, known.told, deed, signal_id)])
}

/** Taken out and merged again before it was told: the survivor may have passed over the link. */
function repeatFollowEntry(
  current: StoredInsight,
  signal_id: string,
  { signal_id: id }: MergeSurvivor,
  deed: AttributedAction,
): StoredInsight {
  const known = current.links.find((each) => each.signal_id === id && each.via?.includes(signal_id))
  return known ? addToOutbox(current, [buildFollowEntry(current, id, known.told, deed, signal_id)]) : current
}

function removeSurvivor(
  current: StoredInsight,
  stand_id: string,
  signal_id: string,
  { by, at }: AttributedAction,
): StoredInsight {
  const links = current.links.flatMap(({ merged_into, ...link }) => {
    if (link.signal_id === signal_id) return [link]
    const whole = merged_into === undefined ? link : { ...link, merged_into }
    if (link.signal_id !== stand_id || !link.via) return [whole]
    const via = link.via.filter((id) => id !== signal_id)
    return via.length > 0 ? [{ ...whole, via }] : []
  })
  const told: NewLedgerEvent = { type: 'signal_unmerged', by, at, signal_id, from: stand_id }
  const noted = recordLedgerEvents({ ...current, updated_at: at, links }, [told])
  const id = `unfollow:${stand_id}:${signal_id}:${noted.events}`
  return addToOutbox(noted, [{ type: 'unfollow', id, signal_id: stand_id, by, via: signal_id }])
}
