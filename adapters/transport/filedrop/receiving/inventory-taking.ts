// Holds what a sender says that it has sent against what has arrived here: one number, one statement, whoever tells of it.
import { inventory_schema, inventoryData } from '../../../../daemon/kernel/inventory.ts'
import type { MessageNumber } from '../../../../daemon/kernel/journal.ts'
import type { Incoming, Statement } from '../../../../daemon/kernel/transport.ts'
import { shapeFault } from '../checks/file-checks.ts'
import type { Specimen } from '../checks/specimen.ts'
import { eventOf } from '../line.ts'
import { type Fault, fault } from '../reasons.ts'
import type { Desk } from './fate.ts'

/**
 * What is wrong with it, before anybody else is told of it. Durable when it resolves; a repeat changes nothing. Its own
 * number shows what is missing before it: nothing else needs to open that gap.
 */
export async function takeInventory(
  { statement, body }: Incoming,
  specimen: Specimen,
  desk: Desk,
): Promise<Fault | undefined> {
  if (statement.body.schema !== inventory_schema) return fault('SCHEMA', 'it is no inventory that this site reads')
  const parsed = inventoryData.safeParse(body)
  if (parsed.error) return shapeFault('the inventory', parsed.error, 'SCHEMA')
  const { epoch, highest, rolling, digests } = parsed.data
  const isOwn = epoch === statement.epoch && highest === statement.seq - 1 && digests.length <= highest
  // Each statement holds the digest of the one before: the last one stands for all of them.
  const isLast = rolling === statement.prev && (digests.at(-1) ?? rolling) === rolling
  if (!isOwn || !isLast) return fault('SCHEMA', 'it does not tell of the messages before it')
  const disputed = await contradicted(highest - digests.length + 1, digests, statement, desk)
  const equivocation = disputed.length > 0 ? await dispute(disputed, statement, desk) : undefined
  if (equivocation) specimen.against = disputed
  if (equivocation) return equivocation
  const { journal, clock } = desk.around
  await journal.noteInventory(desk.place.channel, statement, clock.now())
  return undefined
}

/** The numbers that arrived with another statement than the inventory names. */
async function contradicted(
  first: number,
  digests: readonly string[],
  { epoch }: Statement,
  { around, place }: Desk,
): Promise<MessageNumber[]> {
  const numbers = digests.map((_, index) => ({ epoch, seq: first + index }))
  const entries = await around.journal.entries(place.channel, numbers)
  return entries.filter(({ seq, digest }) => digest !== digests[seq - first])
}

/** Undefined when people have opened the channel again over the same numbers: each inventory names them once more. */
async function dispute(
  numbers: readonly MessageNumber[],
  { epoch, seq }: Statement,
  desk: Desk,
): Promise<Fault | undefined> {
  const { line, around, place, trace } = desk
  const detail = `the sender signed another message than it tells of under ${numbers.length} of its numbers`
  const about = { epoch, seq, detail, numbers: numbers.slice(0, 16).map((each) => each.seq) }
  const event = eventOf(line, 'filedrop.channel.equivocation', place.channel, about, around, {
    outcome: 'refused',
    trace,
  })
  const outcome = await around.journal.dispute(place.channel, detail, numbers, [event])
  return outcome === 'known' ? undefined : fault('EQUIVOCATION', detail)
}
