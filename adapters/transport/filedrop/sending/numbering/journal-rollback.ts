// Detects a journal that was restored from a backup by the files that left since, so that no number is used twice.
import * as fsp from 'node:fs/promises'
import { join } from 'node:path'
import { refuse } from '../../../../../daemon/kernel/error/errors.ts'
import type { MessageNumber } from '../../../../../daemon/kernel/messaging/journal.ts'
import type { FiledropContext } from '../../filedrop-context.ts'
import { readDroppedFile } from '../../files/dropped-file.ts'
import { parseMessageName, partFileName } from '../../files/message-name.ts'
import type { FiledropLink } from '../../link/filedrop-link.ts'
import { linkAuditEvent } from '../../link/link-audit-event.ts'
import { readOwnEnvelope } from '../own-message.ts'

/** Next step for operators when a channel waits for its next epoch. */
const open_epoch_hint = 'open a new epoch:'

/**
 * Freezes an open channel whose files have a number that its journal lacks: the journal is then older than the files, and
 * its next number may have been used before. Throws `Refusal('unavailable')` then.
 */
export async function freezeIfRolledBack(link: FiledropLink, filedrop: FiledropContext): Promise<void> {
  const { journal, log, claims } = filedrop
  const channel = link.channel.out
  const known = (await journal.channels()).find((each) => each.channel === channel)
  if (known?.state !== 'open') return
  const { epoch, seq } = await journal.head(channel)
  const files = await highestSentNumber(link, filedrop, { epoch, seq })
  if (!isAfter(files, { epoch, seq })) return
  const about = { journal: { epoch, seq }, files }
  const detail = `the journal is older than the files that were sent: ${open_epoch_hint} platform filedrop epoch ${link.peer}`
  log.error('filedrop.channel.set_back', { peer: link.peer, ...about })
  await journal.setState(channel, 'frozen', detail, [
    linkAuditEvent(link, 'filedrop.channel.set-back', channel, about, filedrop, { outcome: 'refused' }),
  ])
  await claims.recall(link.peer)
  throw refuse('unavailable', detail)
}

/** Most files that are read for their numbers: a user who may empty `ready` may also fill it with other names. */
const max_files_read = 1_024

/** The highest number above `known` that this site has signed, by the files that have left or are leaving; else `known`. */
export async function highestSentNumber(
  link: FiledropLink,
  filedrop: FiledropContext,
  known: MessageNumber,
): Promise<MessageNumber> {
  let highest = known
  for (const folder of [link.folders.sent, link.folders.ready]) {
    const above = await numbersAbove(folder, highest)
    for (const { stem, epoch, seq } of above.sort((a, b) => (isAfter(a, b) ? -1 : 1)).slice(0, max_files_read)) {
      const file = readDroppedFile(join(folder, partFileName(stem, 'env')), filedrop.settings.max_envelope_bytes)
      const signed = (await readOwnEnvelope(file, link, filedrop))?.statement
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
    const read = parseMessageName(name)
    if (read?.part === 'env' && isAfter(read, known)) found.push(read)
  }
  return found
}

function isAfter(a: MessageNumber, b: MessageNumber): boolean {
  return a.epoch > b.epoch || (a.epoch === b.epoch && a.seq > b.seq)
}
