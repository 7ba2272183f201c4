// Enrols a contributor of the caller's tenant, or replaces its keys and speakers.
import { isRefusal, type Refusal, refuse } from '../../../kernel/error/errors.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { listPinnedPeers } from '../../../shared/pinned-peers/pinned-peers.ts'
import { changeContributor } from './change-contributor.ts'
import { contributor, enrolmentFields, nameInput } from './model.ts'

export const set = operation({
  summary: 'Enrol a contributor, or replace its keys and speakers',
  method: 'PUT',
  path: '/api/v2/consensus/contributor/{name}',
  input: nameInput.extend(enrolmentFields),
  output: contributor,
  errors: ['already_exists'],
  allow: 'consensus:enrol',

  async run(call, fields) {
    const taken = await findNamesake(call, fields.name)
    if (taken) return taken
    const changed = await changeContributor(call, { ...fields, removed: false })
    if (isRefusal(changed)) return changed
    const { tenant_id: _tenant, removed: _removed, ...shown } = changed
    return { ...shown, origin: 'operation' as const }
  },
})

/** Peers have channels to the site's own tenant alone, and contribute there under the name of theirs. */
async function findNamesake(call: Call, name: string): Promise<Refusal | undefined> {
  if (call.caller.tenant_id !== call.site.tenant_id) return undefined
  const peer = (await listPinnedPeers(call)).find(({ tenant_id }) => tenant_id === name)
  return (
    peer &&
    refuse(
      'already_exists',
      `${name} is the tenant of the peer ${peer.name}, which contributes under it; choose another name`,
    )
  )
}
