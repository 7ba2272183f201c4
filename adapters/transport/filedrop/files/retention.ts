// Removes the files of messages after their retention time. Numbers and digests stay in the journal.

import * as fs from 'node:fs'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import type { Peer } from '../../../../daemon/kernel/identity/peer.ts'
import type { ChannelDirection, MessageNumber } from '../../../../daemon/kernel/messaging/journal.ts'
import type { ExpiredFiles } from '../../../../daemon/kernel/messaging/one-way-control.ts'
import { syncFolderAsync } from '../../../platform/durable-file/sync-folder.ts'
import { day_ms } from '../day-length.ts'
import type { FiledropContext } from '../filedrop-context.ts'
import { type FiledropLink, filedropLink } from '../link/filedrop-link.ts'
import { folderFault } from './channel-folders.ts'
import { messageName, messageParts, partFileName } from './message-name.ts'

/** Messages of one channel by one run: a moment of work, and few enough to be gone through in a night. */
const max_messages_per_run = 10_000
const max_messages_per_read = 200

/** By the journal's times: what a file says of its own age is the carrier's to choose. Both directions of each pinned peer. */
export async function dropOld(filedrop: FiledropContext, signal: AbortSignal): Promise<ExpiredFiles[]> {
  const dropped: ExpiredFiles[] = []
  for (const peer of await filedrop.peers.list()) {
    const link = filedropLink(peer.name, filedrop)
    if ((folderFault(link.paths, filedrop.site, peer.name) ?? link.pins.fault()) !== undefined) continue
    try {
      for (const direction of ['out', 'in'] as const)
        dropped.push(await dropOldMessages(link, direction, peer, filedrop, signal))
    } finally {
      link.pins.close()
    }
  }
  return dropped.filter(({ messages }) => messages > 0)
}

async function dropOldMessages(
  link: FiledropLink,
  direction: ChannelDirection,
  { keep_days }: Peer,
  { journal, clock }: FiledropContext,
  signal: AbortSignal,
): Promise<ExpiredFiles> {
  const channel = link.channel[direction]
  const folder = direction === 'out' ? link.folders.sent : link.folders.done
  const before = clock.now() - keep_days * day_ms
  let messages = 0
  while (messages < max_messages_per_run && !signal.aborted) {
    const old = await journal.retained(channel, before, max_messages_per_read)
    if (old.length === 0) return { channel, messages, more: false }
    removeFiles(folder, old)
    await syncFolderAsync(folder)
    await journal.dropRetained(channel, old)
    messages += old.length
    await setImmediate()
  }
  return { channel, messages, more: true }
}

/** The files first: after a crash the journal still names those that are left. */
function removeFiles(folder: string, old: readonly MessageNumber[]): void {
  for (const { epoch, seq } of old) {
    for (const part of messageParts)
      fs.rmSync(join(folder, partFileName(messageName(epoch, seq).stem, part)), { force: true })
  }
}
