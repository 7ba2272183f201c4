// Quarantines files that stay incomplete too long by the journal's clock: senders choose the times of files.

import { quarantineMessage } from '../../quarantine/quarantine-message.ts'
import { fault, type MessageFault } from '../../quarantine-reasons.ts'
import { guardFile } from '../guard-file.ts'
import { type ReceiveContext, type ScanContext, withTrace } from '../scan-context.ts'
import type { IncomingItem, UnrecognizedFile } from './incoming-files.ts'
import { quarantineUnrecognized } from './unrecognized-files.ts'

export type WaitingItem = IncomingItem | UnrecognizedFile

/** Names that one transaction of the journal is about; others get their turn between two. */
const names_per_transaction = 2_000

/** `waiting`: all that waits now; the journal forgets what else did. When the first of it began to wait, if any. */
export async function quarantineExpired(
  waiting: () => Iterable<WaitingItem>,
  context: ScanContext,
): Promise<number | undefined> {
  const names: string[] = []
  for (const each of waiting()) names.push(...journalNames(each))
  const { first, lapsed } = await findExpired(names, context)
  if (lapsed.size === 0) return first
  for (const each of waiting()) {
    if (context.isStopped()) break
    if (journalNames(each).some((name) => lapsed.has(name))) {
      await quarantineItem(each, fault('TRUNCATED', 'it never became complete'), context)
    }
  }
  return first
}

export async function quarantineItem(waiting: WaitingItem, why: MessageFault, scanContext: ScanContext): Promise<void> {
  const context = withTrace(scanContext)
  await guardFile(context, journalNames(waiting).join(' '), () => quarantineByKind(waiting, why, context))
}

function quarantineByKind(waiting: WaitingItem, why: MessageFault, context: ReceiveContext): Promise<void> {
  return 'stem' in waiting ? quarantineMessage(waiting, why, context) : quarantineUnrecognized(waiting, why, context)
}

/** As the journal knows them. */
function journalNames(waiting: WaitingItem): string[] {
  if (!('stem' in waiting)) return [waiting.raw_name]
  const { stem, env, body } = waiting
  return [...(env ? [`${stem}.env`] : []), ...(body ? [`${stem}.body`] : [])]
}

type ExpiryResult = { readonly first: number | undefined; readonly lapsed: ReadonlySet<string> }

async function findExpired(
  names: readonly string[],
  { filedrop, destination, isStopped }: ScanContext,
): Promise<ExpiryResult> {
  const { journal, clock, settings } = filedrop
  const now = clock.now()
  const lapsed = new Set<string>()
  // No character is more than one byte of a name, so this is the journal's order too.
  const sorted = names.toSorted()
  const distinct = sorted.filter((name, at) => name !== sorted[at - 1])
  let first: number | undefined
  let after = ''
  for (let at = 0; at === 0 || at < distinct.length; at += names_per_transaction) {
    // An unreported message counts as due, so that the next scan reports it.
    if (isStopped()) return { first: now - settings.truncated_after_ms, lapsed }
    const some = distinct.slice(at, at + names_per_transaction)
    const upto = at + names_per_transaction < distinct.length ? some.at(-1) : undefined
    for (const [name, since] of await journal.noteIncomplete(destination.channel, some, now, { after, upto })) {
      first = Math.min(first ?? since, since)
      if (now - since >= settings.truncated_after_ms) lapsed.add(name)
    }
    after = upto ?? after
  }
  return { first, lapsed }
}
