// Places a file where a carrier or the intake looks: under its final name only when it is complete and on disk.
import { writeDurablyAsync } from '../../../platform/durable-file/write-durably.ts'
import type { FiledropFaultHook } from '../fault-points.ts'
import { readDroppedFile } from './dropped-file.ts'

export type PlacementOutcome = 'placed' | 'present' | 'different'

/**
 * Writes and syncs `draft`, then renames it to `final`; the caller syncs the folder after its last file. A file that already
 * has the name stays. Both paths must be on one file system.
 */
export async function placeFile(
  draft: string,
  final: string,
  bytes: Buffer,
  passFaultPoint?: FiledropFaultHook,
): Promise<PlacementOutcome> {
  const there = readDroppedFile(final, bytes.length)
  if (!('gone' in there)) return 'bytes' in there && there.bytes.equals(bytes) ? 'present' : 'different'
  // On failure the draft is removed: a full disk must not be kept full by what did not fit.
  await writeDurablyAsync(
    final,
    async (handle) => {
      await handle.writeFile(bytes)
      passFaultPoint?.('draft-written')
    },
    {
      draft,
      existing_draft: 'overwrite',
      beforeRename: () => passFaultPoint?.('draft-synced'),
      syncs_folder: false,
    },
  )
  return 'placed'
}
