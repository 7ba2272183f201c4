// Places a file where a carrier or the intake looks: under its final name only when it is complete and on disk.
import * as fsp from 'node:fs/promises'
import type { FiledropFaultHook } from '../fault-points.ts'
import { readDroppedFile } from './dropped-file.ts'

export type PlacementOutcome = 'placed' | 'present' | 'different'

/**
 * Writes and syncs `draft`, then renames it to `final`. A file that already has the name stays. Both paths must be on one
 * file system.
 */
export async function placeFile(
  draft: string,
  final: string,
  bytes: Buffer,
  passFaultPoint?: FiledropFaultHook,
): Promise<PlacementOutcome> {
  const there = readDroppedFile(final, bytes.length)
  if (!('gone' in there)) return 'bytes' in there && there.bytes.equals(bytes) ? 'present' : 'different'
  try {
    await writeDraft(draft, bytes, passFaultPoint)
    await fsp.rename(draft, final)
    return 'placed'
  } catch (error) {
    // A disk that is full must not be kept full by what did not fit.
    await fsp.rm(draft, { force: true })
    throw error
  }
}

async function writeDraft(draft: string, bytes: Buffer, passFaultPoint?: FiledropFaultHook): Promise<void> {
  const handle = await fsp.open(draft, 'w', 0o600)
  try {
    await handle.writeFile(bytes)
    passFaultPoint?.('draft-written')
    await handle.sync()
    passFaultPoint?.('draft-synced')
  } finally {
    await handle.close()
  }
}
