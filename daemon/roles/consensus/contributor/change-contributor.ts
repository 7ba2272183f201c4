// Stores a change of a contributor with its audit record, at once for every process of the site.
import { isRefusal, type Refusal, refuse } from '../../../kernel/error/errors.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { contributorId, max_changed_contributors } from './enrolment.ts'
import { contributors, type StoredContributor } from './model.ts'

type ContributorChange = Pick<StoredContributor, 'name' | 'signer_keys' | 'spoken_for_by' | 'removed'>

/** Refuses `invalid` for a new entry beyond the limit of a tenant. */
export async function changeContributor(call: Call, change: ContributorChange): Promise<StoredContributor | Refusal> {
  const store = call.store(contributors)
  const id = contributorId(call, change.name)
  const { tenant_id, subject: changed_by } = call.caller
  const value = { ...change, tenant_id, changed_by, changed_at: call.nowIso() }
  const { name: _name, ...detail } = change
  const audit = [call.audited(call.address, change.name, detail)]
  const before = await store.find(id)
  if (!before) {
    const refusal = await checkCount(call)
    if (isRefusal(refusal)) return refusal
    const outcome = await store.create(id, value, audit)
    if (outcome !== 'exists') return value
  }
  await store.update(id, () => ({ next: value, answer: undefined, audit }))
  return value
}

async function checkCount(call: Call): Promise<Refusal | undefined> {
  const count = await call.store(contributors).count()
  if (count < max_changed_contributors) return undefined
  return refuse(
    'invalid',
    `${count} contributors of this tenant have entries, and the limit is ${max_changed_contributors}`,
  )
}
