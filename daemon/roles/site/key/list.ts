// Lists the site's public keys with their fingerprints, for a peer to pin.
import * as z from 'zod'
import { publicKey } from '../../../kernel/cryptography/signatures.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { signaturesPart } from '../parts.ts'

export const list = operation({
  summary: 'List the site’s public keys',
  method: 'GET',
  path: '/api/v2/site/key',
  input: z.strictObject({ use: publicKey.shape.use.optional() }),
  output: z.strictObject({ items: z.array(publicKey) }).meta({ id: 'KeyList' }),
  errors: [],
  allow: 'key:read',

  async run(call, { use }) {
    const keys = call.part(signaturesPart).publicKeys()
    return { items: keys.filter((key) => use === undefined || key.use === use) }
  },
})
