// Messages between sites, as the other roles of this site submit them.
import * as z from 'zod'
import { jws, publicKey } from '../../../kernel/cryptography/signatures.ts'
import { label } from '../../../kernel/label/label.ts'
import { labelMap } from '../../../kernel/label/label-map.ts'
import { sendableKind } from '../../../kernel/messaging/transport.ts'

export const outgoingMessage = z.strictObject({
  peer: z.string().min(1).max(64),
  event_id: z.string().min(1).max(512).meta({ description: 'A repeat with the same id finds the same message' }),
  kind: sendableKind,
  schema: z.string().min(1).max(128),
  body: z.record(z.string(), z.unknown()),
  label,
  parent_block_ids: z.array(z.string()).max(64),
})

export const sentMessage = z
  .strictObject({ msg_id: z.string(), epoch: z.int(), seq: z.int() })
  .meta({ id: 'SentMessage', description: 'Position of the message on its channel' })

export const signatureType = z.enum(['statement', 'evidence', 'checkpoint'])

export const verificationInput = z.strictObject({ peer: z.string().min(1).max(64), type: signatureType, envelope: jws })

export const verifiedMessage = z
  .strictObject({
    payload: z.string().meta({ description: 'base64url' }),
    keys: z.array(publicKey),
    label: label.optional().meta({ description: 'Of a statement: its label in the terms of this site’s policy' }),
    is_label_released: z
      .boolean()
      .optional()
      .meta({ description: 'People released it under this label, which replaces the label in the message' }),
    transport: z.string().optional().meta({ description: 'Carrier of this peer’s messages' }),
    label_map: labelMap.optional().meta({ description: 'Translation of other labels of this peer' }),
  })
  .meta({ id: 'VerifiedMessage' })
