// Classifies message kinds: applied in any order, or only after all earlier messages.
import type { MessageKind } from '../../../../../daemon/kernel/messaging/statement.ts'

/**
 * Contributions commute: the same set gives the same result to the bit. Of receipts and inventories the newest counts. Key
 * sets have an order of their own, and a revocation must not wait for lost messages. All other kinds report a state.
 */
const orderByKind: Readonly<Record<MessageKind, 'commutes' | 'ordered'>> = {
  contribution: 'commutes',
  invitation: 'ordered',
  result: 'ordered',
  lens_emission: 'ordered',
  signal: 'ordered',
  resolution: 'ordered',
  keys: 'commutes',
  inventory: 'commutes',
  gap_receipt: 'commutes',
}

export function isOrdered(kind: MessageKind): boolean {
  return orderByKind[kind] === 'ordered'
}
