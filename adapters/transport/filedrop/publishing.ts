// Puts files where a carrier looks: never under their final name before they are whole and on disk, never over others.
import * as fs from 'node:fs'
import * as fsp from 'node:fs/promises'
import { join } from 'node:path'
import type { Sealed } from '../../../daemon/kernel/journal.ts'
import { readDropped } from './dropped-file.ts'
import type { Folders } from './layout.ts'
import { fileOf, nameOf, type Part, parseName, parts } from './names.ts'
import { syncFolderLater } from './own-file.ts'

export type Placed = 'placed' | 'present' | 'different'

/** The body first and the envelope last, both durable: its presence says that the message is complete. */
export async function publish(folders: Folders, message: Sealed): Promise<Placed> {
  let outcome: Placed = 'present'
  for (const part of parts) {
    const placed = await place(folders.tmp, folders.ready, ...fileFor(message, part))
    if (placed === 'different') return placed
    if (placed === 'placed') outcome = placed
  }
  // Also when all was present: the crash that made this a repeat may have come before the folder was synced.
  await syncFolderLater(folders.ready)
  return outcome
}

/** Keeps what the carrier took, for a resend of the very same bytes. */
export async function keep(folders: Folders, message: Sealed): Promise<void> {
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

function fileFor(message: Sealed, part: Part): [file: string, text: string] {
  const file = fileOf(nameOf(message.epoch, message.seq).stem, part)
  return [file, part === 'env' ? message.envelope : message.body]
}

/** Only the one process of the site writes here, one message at a time per channel: so looking before renaming is safe. */
async function place(tmp: string, folder: string, file: string, text: string): Promise<Placed> {
  const bytes = Buffer.from(text)
  const final = join(folder, file)
  const there = readDropped(final, bytes.length)
  if (!('gone' in there)) return 'bytes' in there && there.bytes.equals(bytes) ? 'present' : 'different'
  const draft = join(tmp, file)
  const handle = await fsp.open(draft, 'w', 0o600)
  try {
    await handle.writeFile(bytes)
    await handle.sync()
  } finally {
    await handle.close()
  }
  await fsp.rename(draft, final)
  return 'placed'
}
