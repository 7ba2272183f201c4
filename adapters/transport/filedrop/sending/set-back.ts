// Finds out that the journal was set back, by the files that have left here: a number must never be given twice.
import * as fsp from 'node:fs/promises'
import { join } from 'node:path'
import { refuse } from '../../../../daemon/kernel/errors.ts'
import type { MessageNumber } from '../../../../daemon/kernel/journal.ts'
import { readDropped } from '../checks/dropped-file.ts'
import { eventOf, type Line } from '../line.ts'
import { fileOf, parseName } from '../names.ts'
import type { Surroundings } from '../surroundings.ts'
import { ownEnvelope } from './own-message.ts'

/** What people are told when a channel waits for its next epoch. */
export const needs_epoch = 'open a new epoch: platform filedrop epoch'

/**
 * Freezes an open channel whose files know of a number that its journal does not: then the journal is older than they
 * are, and whatever it gave next might have been given before. Throws `Refused('unavailable')` then.
 */
export async function freezeIfSetBack(line: Line, around: Surroundings): Promise<void> {
  const { journal, log, claims } = around
  const channel = line.channel.out
  const known = (await journal.channels()).find((each) => each.channel === channel)
  if (known?.state !== 'open') return
  const { epoch, seq } = await journal.head(channel)
  const files = await highestSent(line, around, { epoch, seq })
  if (!isAfter(files, { epoch, seq })) return
  const about = { journal: { epoch, seq }, files }
  const detail = `the journal is older than the files that were sent: ${needs_epoch} ${line.peer}`
  log.error('filedrop.channel.set-back', { peer: line.peer, ...about })
  await journal.setState(channel, 'frozen', detail, [
    eventOf(line, 'filedrop.channel.set-back', channel, about, around, { outcome: 'refused' }),
  ])
  await claims.callBack(line.peer)
  throw refuse('unavailable', detail)
}

/** Names that stand for no message are looked at no more than so often: whoever may empty `ready` may also fill it. */
const most_looks = 1_024

/** The highest number above `known` that this site has signed, by the files that have left or are leaving; else `known`. */
export async function highestSent(line: Line, around: Surroundings, known: MessageNumber): Promise<MessageNumber> {
  let highest = known
  for (const folder of [line.folders.sent, line.folders.ready]) {
    const above = await numbersAbove(folder, highest)
    for (const { stem, epoch, seq } of above.sort((a, b) => (isAfter(a, b) ? -1 : 1)).slice(0, most_looks)) {
      const file = readDropped(join(folder, fileOf(stem, 'env')), around.settings.max_envelope_bytes)
      const signed = (await ownEnvelope(file, line, around))?.statement
      if (signed?.epoch !== epoch || signed.seq !== seq) continue
      highest = { epoch, seq }
      break
    }
  }
  return highest
}

async function numbersAbove(folder: string, known: MessageNumber) {
  const found = []
  for await (const { name } of await fsp.opendir(folder)) {
    const read = parseName(name)
    if (read?.part === 'env' && isAfter(read, known)) found.push(read)
  }
  return found
}

function isAfter(a: MessageNumber, b: MessageNumber): boolean {
  return a.epoch > b.epoch || (a.epoch === b.epoch && a.seq > b.seq)
}
