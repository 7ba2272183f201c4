// Lists the site's public keys with their fingerprints, for a peer to pin.
import { operation } from '../../../kernel/operation/operation.ts'
import { wholeList } from '../../../kernel/operation/paging.ts'
import { listSiteKeys } from '../../../shared/site-key/site-key.ts'
import { signaturesPart } from '../parts.ts'

export const list = operation({
  summary: 'List the site’s public keys',
  method: 'GET',
  path: '/api/v2/site/key',
  input: listSiteKeys.input,
  output: listSiteKeys.output,
  errors: [],
  allow: 'key:read',

  async run(call, { use }) {
    const keys = call.part(signaturesPart).publicKeys()
    return wholeList(keys.filter((key) => use === undefined || key.use === use))
  },
})
