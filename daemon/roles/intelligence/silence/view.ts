// Builds the API view of a silence, with the number of signals that it silenced, for callers who may see it.

import { type Refusal, refuse } from '../../../kernel/error/errors.ts'
import { dominates } from '../../../kernel/label/label.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import { signals } from '../signal/model.ts'
import type { SignalSilence, StoredSilence } from './model.ts'
import { stateAt } from './rules.ts'

export function maySee({ caller, site }: Call, { silence_label }: StoredSilence): boolean {
  return caller.tenant_id === '*' || dominates(caller, silence_label, site.labels)
}

/** The silences that the caller may see. */
export async function showSilences(call: Call, docs: readonly Doc<StoredSilence>[]): Promise<SignalSilence[]> {
  const visible = docs.filter(({ value }) => maySee(call, value))
  if (visible.length === 0) return []
  const counted = await call.store(signals).countBy('silence_id', { silence_id: { in: visible.map(({ id }) => id) } })
  return visible.map(({ id, version, value }) => {
    const {
      silence_label: classification,
      clearance: _clearance,
      request_digest: _request,
      starts_ts,
      until_ts,
      ...rest
    } = value
    const state = stateAt({ starts_ts, until_ts }, call.now())
    return { uid: id, version, classification, ...rest, state, silenced: counted.get(id) ?? 0 }
  })
}

/** The words for a silence that does not exist, so that a hidden one does not differ. */
export const refuseUnknownSilence = () => refuse('not_found', 'there is no such silence')

export async function showSilence(call: Call, doc: Doc<StoredSilence>): Promise<SignalSilence | Refusal> {
  const [shownSilence] = await showSilences(call, [doc])
  return shownSilence ?? refuseUnknownSilence()
}
