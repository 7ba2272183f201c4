// Answers the public lists by which tokens are verified, for a role on another machine.
import { operation } from '../../../kernel/operation/operation.ts'
import { getVerificationLists } from '../../../shared/verification-lists/verification-lists.ts'
import { verificationListsPart } from '../parts.ts'

export const get = operation({
  summary: 'Get the lists by which tokens are verified, for a role on another machine',
  method: 'GET',
  path: '/api/v2/site/verification',
  input: getVerificationLists.input,
  output: getVerificationLists.output,
  errors: ['unavailable'],
  allow: 'role',

  async run(call, { known }) {
    const { digest, lists } = await call.part(verificationListsPart).read()
    return { digest, ...(digest === known ? {} : { lists }) }
  },
})
