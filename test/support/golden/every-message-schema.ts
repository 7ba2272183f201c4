// The schema of the data of each kind of message: those that roles take by their operations, and those of the sites themselves.
import * as z from 'zod'
import {
  acknowledgement_schema,
  acknowledgementData,
} from '../../../adapters/transport/filedrop/sending/reports/compose-acknowledgement.ts'
import { everyOperation } from '../../../daemon/every-role.ts'
import { keysData } from '../../../daemon/kernel/cryptography/key-set.ts'
import { jws } from '../../../daemon/kernel/cryptography/signatures.ts'
import { inventory_schema, inventoryData } from '../../../daemon/kernel/messaging/inventory.ts'
import type { MessageKind } from '../../../daemon/kernel/messaging/message-kind.ts'
import { keys_schema } from '../../../daemon/kernel/messaging/one-way-control.ts'
import { messageKinds } from '../../../daemon/message-kinds.ts'
import { evidenceBlock } from '../../../daemon/roles/consensus/evidence/model.ts'
import { peerDissent, resultMessage } from '../../../daemon/roles/consensus/federation/session-outcome.ts'
import { dataset_part_schema } from '../../../daemon/roles/ingest/federation/model.ts'
import { signalSchema } from '../../../daemon/roles/intelligence/federation/model.ts'
import { exchange_message_schema } from '../../../daemon/roles/resolution/exchange/message/exchange-message.ts'
import type { MessageSchema } from './format-message-schemas.ts'

/** Kinds of the site itself, which no operation takes under this name, and a result, whose parts are read after its sender is known. */
const describedData: Partial<Record<MessageKind, z.ZodType>> = {
  result: z.strictObject({
    ...resultMessage.shape,
    evidence: evidenceBlock
      .optional()
      .meta({ description: 'At most one of evidence, dissent and retraction is present' }),
    dissent: peerDissent.optional(),
  }),
  keys: z.union([keysData, z.strictObject({ epoch: jws })]),
  inventory: inventoryData,
  gap_receipt: acknowledgementData,
}

const schemaNames: Partial<Record<MessageKind, string>> = {
  signal: signalSchema,
  dataset: dataset_part_schema,
  resolution: exchange_message_schema,
  keys: keys_schema,
  inventory: inventory_schema,
  gap_receipt: acknowledgement_schema,
}

/** In the order of the kinds. Throws for a kind without a schema. */
export const everyMessageSchema: readonly MessageSchema[] = messageKinds.names.map((kind) => {
  const taken = everyOperation.find(({ operation }) => operation.message?.kind === kind)
  const data = describedData[kind] ?? taken?.operation.message?.data
  if (!data) throw new Error(`no operation takes messages of kind ${kind}`)
  return { kind, name: schemaNames[kind] ?? `consensus.${kind}/1`, data }
})
