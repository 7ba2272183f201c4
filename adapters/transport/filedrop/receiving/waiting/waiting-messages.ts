// Messages that the ledger has received and not yet ended: their files lie in `work`.
import type { Journal } from '../../../../../daemon/kernel/messaging/journal.ts'
import type { LedgerEntry, MessageArrival, SetAsideMessage } from '../../../../../daemon/kernel/messaging/ledger.ts'
import type { FiledropContext } from '../../filedrop-context.ts'
import { messageName } from '../../files/message-name.ts'

export type WaitingMessages = {
  /** Received, and not set aside. By stem, in the order of their numbers. */
  readonly received: Map<string, LedgerEntry>
  /** Wait for a role. By stem, in the order of their numbers. */
  readonly aside: Map<string, SetAsideMessage>
}

/** `at`: when this process first examined it, in epoch milliseconds. */
export type EarlyMessage = Omit<MessageArrival, 'prev'>

/**
 * `up`: the role has taken or refused a message. `down`: it cannot take any now. `absent`: the site does not run it.
 */
export type RoleState = 'up' | 'down' | 'absent'

export function noWaitingMessages(): WaitingMessages {
  return { received: new Map(), aside: new Map() }
}

export async function readWaitingMessages(
  journal: Pick<Journal, 'unfinished' | 'setAside'>,
  channel: string,
): Promise<WaitingMessages> {
  const byStem = <E extends LedgerEntry>(entries: readonly E[]) =>
    new Map(entries.map((entry) => [messageName(entry.epoch, entry.seq).stem, entry]))
  return { received: byStem(await journal.unfinished(channel)), aside: byStem(await journal.setAside(channel)) }
}

/** Stems of the ordered messages that wait behind a gap. */
export async function findHeld(
  { received }: WaitingMessages,
  { journal, kinds }: Pick<FiledropContext, 'kinds'> & { readonly journal: Pick<Journal, 'progress'> },
  channel: string,
): Promise<string[]> {
  const floors = new Map<number, number>()
  const held: string[] = []
  for (const [stem, { epoch, seq, kind }] of received) {
    if (!kinds.isOrdered(kind)) continue
    const floor = floors.get(epoch) ?? (await journal.progress(channel, epoch)).floor
    floors.set(epoch, floor)
    if (floor < seq) held.push(stem)
  }
  return held
}
