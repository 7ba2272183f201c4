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
import { keys_schema } from '../../../daemon/kernel/messaging/one-way-control.ts'
import { type MessageKind, messageKind } from '../../../daemon/kernel/messaging/statement.ts'
import { signalSchema } from '../../../daemon/roles/intelligence/federation/model.ts'
import { exchange_message_schema } from '../../../daemon/roles/resolution/exchange/message/exchange-message.ts'
import type { MessageSchema } from './format-message-schemas.ts'

/** A kind of the site itself has no operation that takes it under this name. */
const siteData: Partial<Record<MessageKind, z.ZodType>> = {
  keys: z.union([keysData, z.strictObject({ epoch: jws })]),
  inventory: inventoryData,
  gap_receipt: acknowledgementData,
}

const schemaNames: Partial<Record<MessageKind, string>> = {
  signal: signalSchema,
  resolution: exchange_message_schema,
  keys: keys_schema,
  inventory: inventory_schema,
  gap_receipt: acknowledgement_schema,
}

/** In the order of the kinds. Throws for a kind without a schema. */
export const everyMessageSchema: readonly MessageSchema[] = messageKind.options.map((kind) => {
  const taken = everyOperation.find(({ operation }) => operation.message?.kind === kind)
  const data = taken?.operation.message?.data ?? siteData[kind]
  if (!data) throw new Error(`no operation takes messages of kind ${kind}`)
  return { kind, name: schemaNames[kind] ?? `consensus.${kind}/1`, data }
})
