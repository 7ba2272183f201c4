// Signs evidence and registries of other roles with the site's message key. Heads of audit chains are signed where they are anchored.
import { operation } from '../../../kernel/operation/operation.ts'
import { createSignature } from '../../../shared/site-key/site-key.ts'
import { signaturesPart } from '../parts.ts'

export const create = operation({
  summary: 'Sign evidence, or a snapshot of a registry, with the site’s key',
  method: 'POST',
  path: '/api/v2/site/signature',
  input: createSignature.input,
  output: createSignature.output,
  errors: ['unavailable'],
  allow: 'evidence:sign',

  run: async (call, { type, payload }) => call.part(signaturesPart).sign(type, Buffer.from(payload, 'base64url')),
})
