// Puts files where a carrier looks: never under their final name before they are whole and on disk, never over others.
import * as fs from 'node:fs'
import * as fsp from 'node:fs/promises'
import { join } from 'node:path'
import type { MessageNumber } from '../../../../daemon/kernel/journal.ts'
import { readDropped } from '../checks/dropped-file.ts'
import type { Reached } from '../fault-points.ts'
import type { Folders } from '../layout.ts'
import { fileOf, nameOf, type Part, parseName, parts } from '../names.ts'
import { syncFolderLater } from '../own-file.ts'

export type Placed = 'placed' | 'present' | 'different'

/** A numbered message with its exact bytes. */
export type Publishable = MessageNumber & { readonly envelope: string; readonly body: string }

/**
 * The body first and the envelope last, both durable: its presence says that the message is complete. Looked at once more
 * where only one was missing: after a crash, a carrier may be taking both while the missing one is put there again.
 */
export async function publish(folders: Folders, message: Publishable, reached: Reached): Promise<Placed> {
  let outcome: Placed = 'present'
  for (let missing = 1; missing === 1; ) {
    missing = 0
    for (const part of parts) {
      const placed = await place(folders.tmp, folders.ready, ...fileFor(message, part), reached)
      if (placed === 'different') return placed
      if (placed === 'present') continue
      outcome = placed
      missing += 1
      reached(part === 'body' ? 'body-published' : 'envelope-published')
    }
  }
  // Also when all was present: the crash that made this a repeat may have come before the folder was synced.
  await syncFolderLater(folders.ready)
  reached('folder-synced')
  return outcome
}

/** Keeps what the carrier took, for a resend of the very same bytes. */
export async function keep(folders: Folders, message: Publishable): Promise<void> {
  for (const part of parts) {
    const [file, text] = fileFor(message, part)
    const placed = await place(folders.tmp, folders.sent, file, text)
    if (placed === 'different') throw new Error(`${file} in out/sent is not what was sent; move it away`)
  }
  await syncFolderLater(folders.sent)
}

/** Stems of the messages of which at least one file is in `ready`. */
export function stemsInReady(folders: Folders): ReadonlySet<string> {
  return new Set(fs.readdirSync(folders.ready).flatMap((name) => parseName(name)?.stem ?? []))
}

/** Drafts of a process that died; nobody else writes there. */
export function clearDrafts(folders: Folders): void {
  for (const name of fs.readdirSync(folders.tmp)) fs.rmSync(join(folders.tmp, name), { recursive: true, force: true })
}

function fileFor(message: Publishable, part: Part): [file: string, text: string] {
  const file = fileOf(nameOf(message.epoch, message.seq).stem, part)
  return [file, part === 'env' ? message.envelope : message.body]
}

/** Only the one process of the site writes here, one message at a time per channel: so looking before renaming is safe. */
async function place(tmp: string, folder: string, file: string, text: string, reached?: Reached): Promise<Placed> {
  return await placeFile(join(tmp, file), join(folder, file), Buffer.from(text), reached)
}

/** Whole and durable before it has its name; other bytes that have it already stay. The draft must be of this file system. */
export async function placeFile(draft: string, final: string, bytes: Buffer, reached?: Reached): Promise<Placed> {
  const there = readDropped(final, bytes.length)
  if (!('gone' in there)) return 'bytes' in there && there.bytes.equals(bytes) ? 'present' : 'different'
  try {
    await writeDraft(draft, bytes, reached)
    await fsp.rename(draft, final)
    return 'placed'
  } catch (error) {
    // A disk that is full must not be kept full by what did not fit.
    await fsp.rm(draft, { force: true })
    throw error
  }
}

async function writeDraft(draft: string, bytes: Buffer, reached?: Reached): Promise<void> {
  const handle = await fsp.open(draft, 'w', 0o600)
  try {
    await handle.writeFile(bytes)
    reached?.('draft-written')
    await handle.sync()
    reached?.('draft-synced')
  } finally {
    await handle.close()
  }
}
