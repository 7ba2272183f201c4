// Lays a message of a peer into its channel, as a network carrier does, and answers with what became of it.
import { canonicalJson, sha384 } from '../../../kernel/encoding/canonical-json.ts'
import { refuse } from '../../../kernel/error/errors.ts'
import { bodyLimits } from '../../../kernel/messaging/body-limits.ts'
import { parseUnlabelledStatement } from '../../../kernel/messaging/statement-format.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { max_message_bytes } from '../../../shared/federation-message/federation-message.ts'
import { landPeerMessage } from '../../../shared/federation-message/land-message.ts'
import { peersPart, transportsPart } from '../parts.ts'

export const land = operation({
  summary: 'Take a message of a peer into its channel',
  method: 'POST',
  path: '/api/v2/site/message/land',
  input: landPeerMessage.input,
  output: landPeerMessage.output,
  errors: ['signature_invalid', 'too_large', 'unavailable'],
  allow: 'message:land',
  max_body_bytes: max_message_bytes,
  max_body_values: bodyLimits.max_values + 1_000,

  async run(call, { envelope, body }) {
    const payload = Buffer.from(envelope.payload, 'base64url')
    const statement = parseUnlabelledStatement(payload)
    const pinned = statement && (await call.part(peersPart).get(statement.src))
    if (!statement || !pinned)
      return refuse('signature_invalid', 'the message carries no valid signature of a pinned key')
    const handover = call.part(transportsPart).find((transport) => transport.handover)?.handover
    if (!handover) return refuse('unavailable', 'the site has no channels')
    const { epoch, seq } = statement
    const parcel = { epoch, seq, envelope: Buffer.from(canonicalJson(envelope)), body: Buffer.from(body, 'base64url') }
    const [landed] = await handover.receive(pinned.name, [parcel])
    if (landed === 'too_large') return refuse('too_large', 'the message exceeds the limits of its channel')
    if (landed !== 'landed')
      return refuse(
        'unavailable',
        landed === 'full'
          ? 'the channel takes nothing in at present; repeat the message later'
          : 'other files wait under the number of the message; repeat it once they are processed',
      )
    await handover.whenProcessed(pinned.name)
    return await handover.outcomeOf(pinned.name, { epoch, seq }, sha384(payload))
  },
})
