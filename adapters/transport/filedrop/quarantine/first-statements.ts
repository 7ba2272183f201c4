// Copies the envelope of the earlier message beside one that contradicts it, so that both signatures are kept.
import { join } from 'node:path'
import type { MessageNumber } from '../../../../daemon/kernel/messaging/journal.ts'
import type { FiledropContext } from '../filedrop-context.ts'
import { readDroppedFile } from '../files/dropped-file.ts'
import { messageName, partFileName } from '../files/message-name.ts'
import type { FiledropLink } from '../link/filedrop-link.ts'
import type { QuarantineCopy } from './quarantine-files.ts'

const max_copies = 16

/** Of the lowest of these numbers; omits messages that this site has not received, or no longer keeps. */
export function copyFirstStatements(
  numbers: readonly MessageNumber[],
  link: FiledropLink,
  filedrop: FiledropContext,
): QuarantineCopy[] {
  return numbers.slice(0, max_copies).flatMap(({ epoch, seq }) => {
    const file = partFileName(messageName(epoch, seq).stem, 'env')
    for (const place of ['done', 'work'] as const) {
      const envelope = readDroppedFile(join(link.folders[place], file), filedrop.settings.max_envelope_bytes)
      if ('bytes' in envelope)
        return [{ was: `${place}/${file}`, as: `first-${epoch}-${seq}.json`, bytes: envelope.bytes }]
    }
    return []
  })
}
