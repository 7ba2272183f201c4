// Deletes an effect and its DAG, once the request confirms it.
import * as z from 'zod'
import { refuse } from '../../../kernel/error/errors.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { uidInput } from '../fields.ts'
import { removeManaged } from '../managed-dag/remove-managed.ts'
import { objectPaths } from '../object-paths.ts'
import { effectKind } from './kind.ts'

export const remove = operation({
  ...objectPaths('effect/{uid}'),
  summary: 'Delete an effect and its DAG, with confirm; datasets that it landed stay',
  method: 'DELETE',
  tool: 'effect_delete',
  input: z.strictObject({
    ...uidInput.shape,
    confirm: z.boolean().default(false).meta({ description: 'Must be true' }),
  }),
  output: z.strictObject({ deleted: z.literal(true) }),
  errors: ['not_found', 'not_your_tenant', 'wrong_state'],
  allow: 'ingest:write',

  async run(call, { uid, confirm }) {
    if (confirm) return await removeManaged(call, effectKind, uid)
    return refuse('invalid', 'an effect is deleted with its runs, and for good: confirm with confirm=true', [
      { path: 'confirm', message: 'must be true' },
    ])
  },
})
