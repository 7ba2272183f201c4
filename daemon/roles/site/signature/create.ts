// Signs documents of other roles with the site's message key, each type for the role that declares it. Heads of audit chains are signed where they are anchored.
import { refuse } from '../../../kernel/error/errors.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { createSignature } from '../../../shared/site-key/site-key.ts'
import { documentTypesPart, signaturesPart } from '../parts.ts'
import { requireRole } from '../requesting-role.ts'

export const create = operation({
  summary: 'Sign a document of a role, such as evidence or a registry, with the site’s key; only roles of the site',
  method: 'POST',
  path: '/api/v2/site/signature',
  input: createSignature.input,
  output: createSignature.output,
  errors: ['unavailable'],
  allow: 'role',

  async run(call, { type, payload }) {
    const types = call.part(documentTypesPart)
    const owner = types.get(type)
    if (owner === undefined) {
      const errors = [{ path: 'type', message: `must be one of ${[...types.keys()].join(', ')}` }]
      return refuse('invalid', `no role declares documents of type "${type}"`, errors)
    }
    const role = requireRole(call.caller)
    if (role !== owner)
      return refuse('forbidden', `documents of type "${type}" are signed for the role ${owner}, not for ${role}`)
    return call.part(signaturesPart).sign(type, Buffer.from(payload, 'base64url'))
  },
})
