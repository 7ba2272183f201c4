// Beside a message that contradicts an earlier one, a copy of the earlier one's envelope: both signatures stay, whatever is dropped later.
import { join } from 'node:path'
import type { MessageNumber } from '../../../../daemon/kernel/journal.ts'
import { readDropped } from '../checks/dropped-file.ts'
import type { Line } from '../line.ts'
import { fileOf, nameOf } from '../names.ts'
import type { Copied } from '../quarantine/quarantine.ts'
import type { Surroundings } from '../surroundings.ts'

const most_copies = 16

/** Of the lowest of these numbers; none of a message that this site has not taken, or keeps no longer. */
export function firstStatements(numbers: readonly MessageNumber[], line: Line, around: Surroundings): Copied[] {
  return numbers.slice(0, most_copies).flatMap(({ epoch, seq }) => {
    const file = fileOf(nameOf(epoch, seq).stem, 'env')
    const envelope = readDropped(join(line.folders.done, file), around.settings.max_envelope_bytes)
    if (!('bytes' in envelope)) return []
    return [{ was: `done/${file}`, as: `first-${epoch}-${seq}.json`, bytes: envelope.bytes }]
  })
}
