// Creates a data key for secrets of the requesting role.

import { operation } from '../../../kernel/operation/operation.ts'
import { createDataKey } from '../../../shared/data-key/data-key.ts'
import { dataKeysPart } from '../parts.ts'
import { requireRole } from '../requesting-role.ts'

export const create = operation({
  summary: 'Create a data key for secrets of the requesting role; only roles of the site',
  method: 'POST',
  path: '/api/v2/site/data-key',
  input: createDataKey.input,
  output: createDataKey.output,
  errors: ['unavailable'],
  allow: 'role',

  async run(call, { collection }) {
    const role = requireRole(call.caller)
    const { key, ...wrapped } = await call.part(dataKeysPart)(role).create(collection)
    return { ...wrapped, key: Buffer.from(key).toString('base64url') }
  },
})
