// What a request to forget a record or to delete an entity states besides its object, and what refuses it.
import { type Refusal, refuse } from '../../../kernel/error/errors.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { requiredText } from '../../../kernel/operation/required-text.ts'
import { iterateDocuments } from '../../../kernel/store/iterate-documents.ts'
import { exchanges } from '../exchange/model.ts'
import type { RegistryKey } from '../fields.ts'
import { fusionRuns } from '../fusion-run/model.ts'
import { open_states } from '../fusion-run/rules.ts'

export const withdrawalReason = requiredText(1_000).meta({
  description: 'Reason, for the audit log and for readers of the record; it stays, so it must not repeat values',
})

/**
 * Refuses while work of the lens is open that the caller may see: its files hold values of records, and it may be about to
 * write them. Work above the clearance of the caller is not named; what it has written is removed when it has ended.
 */
export async function refuseOpenWork(call: Call, { tenant_id, lens }: RegistryKey): Promise<Refusal | undefined> {
  const ofLens = { tenant_id, lens, state: { in: open_states }, exchange_id: { exists: false } }
  const [run] = (await call.store(fusionRuns).list({ filter: ofLens, limit: 1, fresh: true })).docs
  if (run) return refuseFor(`run ${run.id}`, run.value.state, lens, `platform resolve cancel ${run.id}`)
  const open = { filter: { tenant_id, state: { in: ['proposed', 'running'] } }, fresh: true }
  for await (const { id, value } of iterateDocuments(call.store(exchanges), open)) {
    if (value.agreement.lens !== lens) continue
    return refuseFor(`exchange ${id}`, value.state, lens, `platform resolve exchange cancel ${id}`)
  }
  return undefined
}

function refuseFor(work: string, state: string, lens: string, command: string): Refusal {
  const remedy = `wait until it has ended, or cancel it: ${command}`
  return refuse('wrong_state', `the ${work} of the lens ${lens} is ${state}, and its files hold records: ${remedy}`)
}
