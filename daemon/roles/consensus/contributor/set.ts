// Enrols a contributor of the caller's tenant, or replaces its keys and speakers.
import { isRefusal } from '../../../kernel/error/errors.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { changeContributor } from './change-contributor.ts'
import { contributor, enrolmentFields, nameInput } from './model.ts'

export const set = operation({
  summary: 'Enrol a contributor, or replace its keys and speakers',
  method: 'PUT',
  path: '/api/v2/consensus/contributor/{name}',
  input: nameInput.extend(enrolmentFields),
  output: contributor,
  errors: [],
  allow: 'consensus:enrol',

  async run(call, fields) {
    const changed = await changeContributor(call, { ...fields, removed: false })
    if (isRefusal(changed)) return changed
    const { tenant_id: _tenant, removed: _removed, ...shown } = changed
    return { ...shown, origin: 'operation' as const }
  },
})
