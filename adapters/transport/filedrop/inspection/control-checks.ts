// The checks of messages that the sites themselves send (inventories, keys, acknowledgements), by the rules of live intake.
import { keysData } from '../../../../daemon/kernel/cryptography/key-set.ts'
import { isRefusal, type Refusal } from '../../../../daemon/kernel/error/errors.ts'
import type { MessageKind } from '../../../../daemon/kernel/messaging/message-kind.ts'
import { keys_schema } from '../../../../daemon/kernel/messaging/one-way-control.ts'
import {
  type CheckpointFault,
  findCheckpointFault,
} from '../../../../daemon/shared/audit-checkpoint/find-checkpoint-fault.ts'
import { type PinnedKeySet, verifyKeySetChain } from '../../../../daemon/shared/key-set/key-succession.ts'
import { readAcknowledgement } from '../checks/acknowledgement-check.ts'
import { judgeAnnouncement } from '../checks/announcement-check.ts'
import { shapeFault } from '../checks/file-checks.ts'
import { readInventory } from '../checks/inventory-check.ts'
import type { SenderTrust } from '../checks/message-checks.ts'
import { fileBytes, type MessageExamination, requireEstablished } from '../checks/message-examination.ts'
import { faultOfSigners } from '../checks/signature-checks.ts'
import { fault, type MessageFault } from '../quarantine-reasons.ts'
import { verifyGapReceipt } from '../sending/reports/gap-receipt.ts'

/** `key_set`: the pinned set of the sender; undefined where only keys are known, whose version is not. */
export type OfflineTrust = SenderTrust & { readonly key_set: PinnedKeySet | undefined }

export type ControlCheck = {
  readonly name: string
  readonly kind: MessageKind
  readonly run: (of: MessageExamination, trust: OfflineTrust) => Promise<MessageFault | undefined>
}

/** Each follows the checks of every message, which have established statement and content. */
export const controlChecks: readonly ControlCheck[] = [
  { name: 'inventory', kind: 'inventory', run: inventoryCheck },
  { name: 'checkpoints', kind: 'inventory', run: checkpointsCheck },
  { name: 'keys', kind: 'keys', run: keysCheck },
  { name: 'acknowledgement', kind: 'gap_receipt', run: acknowledgementCheck },
]

async function inventoryCheck(of: MessageExamination): Promise<MessageFault | undefined> {
  const reading = readInventory(requireEstablished(of, 'statement'), requireEstablished(of, 'content').data)
  return 'fault' in reading ? reading.fault : undefined
}

/** Live intake stores the heads whose signatures hold, and logs the others; here each must hold. */
async function checkpointsCheck(of: MessageExamination, trust: OfflineTrust): Promise<MessageFault | undefined> {
  const statement = requireEstablished(of, 'statement')
  const reading = readInventory(statement, requireEstablished(of, 'content').data)
  if ('fault' in reading) return reading.fault
  const { pinned: keys, threshold, signatures } = trust
  for (const [index, head] of reading.inventory.checkpoints.entries()) {
    const found = await findCheckpointFault(head, { site: statement.src, keys, threshold }, signatures)
    const { reason, detail } = found ? describeCheckpointFault(found) : {}
    if (reason) return fault(reason, `checkpoint ${index + 1} of the inventory: ${detail}`)
  }
  return undefined
}

function describeCheckpointFault(found: CheckpointFault): MessageFault {
  if (found === 'other_site') return fault('SCHEMA', 'the chain is not one of the sender')
  if (found === 'other_head') return fault('BAD_SIG', 'the signature is over another head')
  return faultOfSigners(found, 'message')
}

async function keysCheck(of: MessageExamination, trust: OfflineTrust): Promise<MessageFault | undefined> {
  const { data } = requireEstablished(of, 'content')
  const { body, src, sender_tenant_id } = requireEstablished(of, 'statement')
  if (body.schema !== keys_schema) return fault('SCHEMA', 'its schema of keys is not supported here')
  if ('epoch' in data) {
    const outcome = await judgeAnnouncement(of, trust)
    return outcome && 'fault' in outcome ? outcome.fault : undefined
  }
  const parsed = keysData.safeParse(data)
  if (parsed.error) return shapeFault('the key sets', parsed.error, 'SCHEMA')
  const { keyset, before = [] } = parsed.data
  const { pinned: keys, root_threshold } = trust
  const sender = trust.key_set ?? { site: src, tenant_id: sender_tenant_id, keys, root_threshold }
  const refusal = await verifyKeySetChain(sender, [...before, keyset], { signatures: trust.signatures })
  return refusal && faultOfRefusal(refusal)
}

async function acknowledgementCheck(of: MessageExamination, trust: OfflineTrust): Promise<MessageFault | undefined> {
  const { body, src, dst } = requireEstablished(of, 'statement')
  const { data } = requireEstablished(of, 'content')
  const body_bytes = fileBytes(of.body).length
  const note = readAcknowledgement({ schema: body.schema, data, body_bytes })
  if (isRefusal(note)) return faultOfRefusal(note)
  const sender = { name: src, keys: trust.pinned, threshold: trust.threshold }
  const receipt = await verifyGapReceipt(note, sender, dst, trust.signatures)
  return isRefusal(receipt) ? faultOfRefusal(receipt) : undefined
}

/** As live intake words it when the operation of a kind refuses its message. */
export function faultOfRefusal({ code, message }: Refusal): MessageFault {
  return { ...fault('REFUSED', message), code }
}
