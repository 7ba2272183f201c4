// Publishes messages to `ready`: under their final names only when complete and durable, without overwriting.
import * as fs from 'node:fs'
import { join } from 'node:path'
import type { MessageNumber } from '../../../../daemon/kernel/messaging/journal.ts'
import { syncFolder, syncFolderAsync } from '../../../platform/durable-file/sync-folder.ts'
import type { FiledropFaultHook } from '../fault-points.ts'
import type { ChannelFolders } from '../files/channel-folders.ts'
import { type MessagePart, messageName, messageParts, parseMessageName, partFileName } from '../files/message-name.ts'
import { type PlacementOutcome, placeFile } from '../files/place-file.ts'

/** A numbered message with its exact bytes. */
export type PublishableMessage = MessageNumber & { readonly envelope: string; readonly body: string }

/**
 * The body first and the envelope last, both durable: its presence says that the message is complete. Looked at once more
 * where only one was missing: after a crash, a carrier may be taking both while the missing one is put there again.
 */
export async function publishMessage(
  folders: ChannelFolders,
  message: PublishableMessage,
  passFaultPoint: FiledropFaultHook,
): Promise<PlacementOutcome> {
  let outcome: PlacementOutcome = 'present'
  for (let missing = 1; missing === 1; ) {
    missing = 0
    for (const part of messageParts) {
      const placed = await placeMessageFile(folders.tmp, folders.ready, ...partContent(message, part), passFaultPoint)
      if (placed === 'different') return placed
      if (placed === 'present') continue
      outcome = placed
      missing += 1
      passFaultPoint(part === 'body' ? 'body-published' : 'envelope-published')
    }
  }
  // Also when all was present: the crash that made this a repeat may have come before the folder was synced.
  await syncFolderAsync(folders.ready)
  passFaultPoint('folder-synced')
  return outcome
}

/** Keeps what the carrier took, for a resend of the very same bytes. */
export async function keepSentCopy(folders: ChannelFolders, message: PublishableMessage): Promise<void> {
  for (const part of messageParts) {
    const [file, text] = partContent(message, part)
    const placed = await placeMessageFile(folders.tmp, folders.sent, file, text)
    if (placed === 'different') throw new Error(`${file} in out/sent differs from the sent message; move it away`)
  }
  await syncFolderAsync(folders.sent)
}

/** Stems of the messages of which at least one file is in `ready`. */
export function listReadyStems(folders: ChannelFolders): ReadonlySet<string> {
  return new Set(fs.readdirSync(folders.ready).flatMap((name) => parseMessageName(name)?.stem ?? []))
}

/** Removes files from `ready`: their absence is the sender's sign that a carrier took them. */
export function removeFromReady(ready: string, files: readonly { readonly name: string }[]): void {
  for (const { name } of files) fs.rmSync(join(ready, name), { force: true })
  syncFolder(ready)
}

/** Removes drafts of a process that died; no other process writes there. */
export function clearDrafts(folders: ChannelFolders): void {
  for (const name of fs.readdirSync(folders.tmp)) fs.rmSync(join(folders.tmp, name), { recursive: true, force: true })
}

function partContent(message: PublishableMessage, part: MessagePart): [file: string, text: string] {
  const file = partFileName(messageName(message.epoch, message.seq).stem, part)
  return [file, part === 'env' ? message.envelope : message.body]
}

/** Only the one process of the site writes here, one message at a time per channel: so looking before renaming is safe. */
async function placeMessageFile(
  tmp: string,
  folder: string,
  file: string,
  text: string,
  passFaultPoint?: FiledropFaultHook,
): Promise<PlacementOutcome> {
  return await placeFile(join(tmp, file), join(folder, file), Buffer.from(text), passFaultPoint)
}
