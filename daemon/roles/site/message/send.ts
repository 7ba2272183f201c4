// Hands a message to the carrier of a peer's channel; it is durable and will go out once this answers.
import { refuse } from '../../../kernel/error/errors.ts'
import { bodyLimits } from '../../../kernel/messaging/body-limits.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { sendSiteMessage } from '../../../shared/site-message/site-message.ts'
import { messageKindsPart, transportsPart } from '../parts.ts'

export const send = operation({
  summary: 'Send a message to a peer',
  method: 'POST',
  path: '/api/v2/site/message',
  input: sendSiteMessage.input,
  output: sendSiteMessage.output,
  status: 202,
  errors: ['not_found', 'label_denied', 'unavailable'],
  allow: 'channel:send',
  max_body_bytes: 6 * 1_048_576,
  // The body, and what is around it.
  max_body_values: bodyLimits.max_values + 1_000,

  async run(call, message) {
    const { sendable } = call.part(messageKindsPart)
    if (!sendable.includes(message.kind)) {
      const errors = [{ path: 'kind', message: `must be one of ${sendable.join(', ')}` }]
      return refuse('invalid', `"${message.kind}" is not a kind that roles and people send`, errors)
    }
    const [transport] = call.part(transportsPart)
    return transport ? transport.send(message, call.trace) : refuse('unavailable', 'the site has no carrier')
  },
})
