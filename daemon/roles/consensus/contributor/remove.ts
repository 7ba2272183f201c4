// Removes a contributor of the caller's tenant: it contributes no more, and what it contributed stays.
import * as z from 'zod'
import { isRefusal, refuse } from '../../../kernel/error/errors.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { changeContributor } from './change-contributor.ts'
import { findContributor } from './enrolment.ts'
import { nameInput } from './model.ts'

export const remove = operation({
  summary: 'Remove a contributor; its contributions stay',
  method: 'DELETE',
  path: '/api/v2/consensus/contributor/{name}',
  input: nameInput,
  output: z.strictObject({ name: z.string() }).meta({ id: 'ContributorRemoved' }),
  errors: ['not_found'],
  allow: 'consensus:enrol',

  async run(call, { name }) {
    if (!(await findContributor(call, name))) return refuse('not_found', `no contributor ${name} is enrolled`)
    const changed = await changeContributor(call, { name, signer_keys: [], spoken_for_by: [], removed: true })
    return isRefusal(changed) ? changed : { name }
  },
})
