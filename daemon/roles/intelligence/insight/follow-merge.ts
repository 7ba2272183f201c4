// Pure steps that update the links of an insight after a merge of linked signals or its undoing.
import type { NewLedgerEvent } from '../ledger/model.ts'
import type { AttributedAction } from '../signal/rules.ts'
import type { StoredInsight } from './model.ts'
import { addToOutbox, buildFollowEntry, recordLedgerEvents } from './outbox/rules.ts'
import { addLink, checkNotClosed, type LinkableSignal } from './rules.ts'

/** The survivor of a merged signal. `holds`: whether the label of the insight covers its label, so that it may be linked. */
export type MergeSurvivor = LinkableSignal & { readonly holds: boolean }

/**
 * Links the survivor in place of a merged signal. Without a survivor, the merge is undone, and links that exist for it alone
 * are removed. A closed insight does not change.
 */
export function followMerge(
  current: StoredInsight,
  signal_id: string,
  survivor: MergeSurvivor | undefined,
  action: AttributedAction,
): StoredInsight {
  const before = current.links.find((each) => each.signal_id === signal_id)
  if (!before || checkNotClosed(current)) return current
  if (before.merged_into === survivor?.signal_id)
    return survivor ? repeatFollowEntry(current, signal_id, survivor, action) : current
  const withoutInherited =
    before.merged_into === undefined ? current : removeSurvivor(current, before.merged_into, signal_id, action)
  const existing = withoutInherited.links.find((each) => each.signal_id === survivor?.signal_id)
  // Without a survivor that may be linked, closing depends on the signal itself.
  if (!survivor || (!existing && !survivor.holds)) return withoutInherited
  const links = withoutInherited.links.map((each) => {
    return each.signal_id === signal_id ? { ...each, merged_into: survivor.signal_id } : each
  })
  const { by, at } = action
  const event: NewLedgerEvent = { type: 'signal_merged', by, at, signal_id, into: survivor.signal_id }
  const recorded = recordLedgerEvents({ ...withoutInherited, updated_at: at, links }, [event])
  if (!existing) return addLink(recorded, survivor, action, signal_id)
  if (!existing.via) return recorded
  const via = [...existing.via, signal_id]
  const updatedLinks = recorded.links.map((each) => (each.signal_id === survivor.signal_id ? { ...each, via } : each))
  return addToOutbox({ ...recorded, links: updatedLinks }, [
    buildFollowEntry(recorded, survivor.signal_id, existing.told, action, signal_id),
  ])
}

/** Unmerged and merged again before delivery: the survivor may have skipped the link. */
function repeatFollowEntry(
  current: StoredInsight,
  signal_id: string,
  { signal_id: id }: MergeSurvivor,
  action: AttributedAction,
): StoredInsight {
  const existing = current.links.find((each) => each.signal_id === id && each.via?.includes(signal_id))
  return existing ? addToOutbox(current, [buildFollowEntry(current, id, existing.told, action, signal_id)]) : current
}

function removeSurvivor(
  current: StoredInsight,
  survivor_id: string,
  signal_id: string,
  { by, at }: AttributedAction,
): StoredInsight {
  const links = current.links.flatMap(({ merged_into, ...link }) => {
    if (link.signal_id === signal_id) return [link]
    const restored = merged_into === undefined ? link : { ...link, merged_into }
    if (link.signal_id !== survivor_id || !link.via) return [restored]
    const via = link.via.filter((id) => id !== signal_id)
    return via.length > 0 ? [{ ...restored, via }] : []
  })
  const event: NewLedgerEvent = { type: 'signal_unmerged', by, at, signal_id, from: survivor_id }
  const recorded = recordLedgerEvents({ ...current, updated_at: at, links }, [event])
  const id = `unfollow:${survivor_id}:${signal_id}:${recorded.events}`
  return addToOutbox(recorded, [{ type: 'unfollow', id, signal_id: survivor_id, by, via: signal_id }])
}
