// Opens a wrapped data key of the requesting role.
import { operation } from '../../../kernel/operation/operation.ts'
import { openDataKey } from '../../../shared/data-key/data-key.ts'
import { dataKeysPart } from '../parts.ts'
import { requireRole } from '../requesting-role.ts'

export const open = operation({
  summary: 'Open a data key of the requesting role; only roles of the site',
  method: 'POST',
  path: '/api/v2/site/data-key/open',
  input: openDataKey.input,
  output: openDataKey.output,
  errors: ['not_found', 'unavailable'],
  allow: 'role',

  async run(call, { collection, ...wrapped }) {
    const role = requireRole(call.caller)
    const { key, is_current } = await call.part(dataKeysPart)(role).open(collection, wrapped)
    return { key: Buffer.from(key).toString('base64url'), is_current }
  },
})
