// Pure rules that close an insight: once its linked signals are resolved or dismissed.
import { type Refusal, refuse } from '../../../../kernel/error/errors.ts'
import type { SignalStatus } from '../../signal/model.ts'
import { type AttributedAction, isOpen } from '../../signal/rules.ts'
import type { StoredInsight } from '../model.ts'
import { recordLedgerEvents, recordSignalSteps } from '../outbox/rules.ts'
import { checkNotClosed, type LinkedSignalStates, listUnmergedLinks } from '../rules.ts'

export function checkMayClose(current: StoredInsight, signalStates: LinkedSignalStates): Refusal | undefined {
  if (current.state !== 'investigating') return refuse('wrong_state', `the insight is ${current.state}`)
  const due = new Set(current.pending.flatMap((entry) => (entry.type === 'advance' ? [entry.signal_id] : [])))
  const hasNotBegun = (status: SignalStatus) => status === 'new' || status === 'acknowledged'
  return refuseOpenSignals(current, signalStates, (id, status) => hasNotBegun(status) && !due.has(id))
}

/** Closes without an edition. Refuses `wrong_state` while a linked signal is open, naming each. */
export function closeInsight(
  current: StoredInsight,
  signalStates: LinkedSignalStates,
  action: AttributedAction,
): StoredInsight | Refusal {
  const refusal = checkNotClosed(current) ?? refuseOpenSignals(current, signalStates, (_, status) => isOpen(status))
  return refusal ?? finishClosing(current, signalStates, action)
}

/** Closes after the attestation of a closing edition, when every linked signal is resolved or dismissed. */
export function closeByEdition(
  current: StoredInsight,
  edition_id: string,
  signalStates: LinkedSignalStates,
  action: AttributedAction,
): StoredInsight {
  return current.state === 'closed' ? current : finishClosing(current, signalStates, action, edition_id)
}

/** Adds all steps of the signals to the ledger first, so that no event follows the closing. */
function finishClosing(
  current: StoredInsight,
  signalStates: LinkedSignalStates,
  action: AttributedAction,
  edition_id?: string,
): StoredInsight {
  const { by, at, rationale } = action
  let withSteps: StoredInsight = current
  for (const [signal_id, { steps }] of signalStates) withSteps = recordSignalSteps(withSteps, signal_id, steps)
  const next = { ...withSteps, state: 'closed' as const, updated_at: at, closed_by: by, closed_at: at }
  const reasonFields = {
    ...(edition_id === undefined ? {} : { edition_id }),
    ...(rationale === undefined ? {} : { rationale }),
  }
  return recordLedgerEvents(next, [{ type: 'insight_closed', by, at, ...reasonFields }])
}

function refuseOpenSignals(
  current: StoredInsight,
  signalStates: LinkedSignalStates,
  isInTheWay: (signal_id: string, status: SignalStatus) => boolean,
): Refusal | undefined {
  const unmerged = new Set(listUnmergedLinks(current, signalStates).map(({ signal_id }) => signal_id))
  const open = [...signalStates].filter(([id, { status }]) => unmerged.has(id) && isInTheWay(id, status))
  if (open.length === 0) return undefined
  const openSignals = open.map(([id, { status }]) => `${id} (${status})`)
  const omitted = openSignals.length > 20 ? ` and ${openSignals.length - 20} more` : ''
  const detail = `linked signals are neither resolved nor dismissed: ${openSignals.slice(0, 20).join(', ')}${omitted}`
  const faults = open.map(([id, { status }]) => ({ path: 'linked_signal_ids', message: `${id} is ${status}` }))
  return refuse('wrong_state', detail, faults)
}
