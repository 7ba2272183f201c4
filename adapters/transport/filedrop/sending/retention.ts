// Removes the files of messages that were kept long enough. Numbers and digests stay in the journal for ever.
import * as fs from 'node:fs'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import type { Direction, MessageNumber } from '../../../../daemon/kernel/journal.ts'
import type { Dropped } from '../../../../daemon/kernel/one-way.ts'
import type { Peer } from '../../../../daemon/kernel/peer.ts'
import { folderFault } from '../layout.ts'
import { type Line, lineTo } from '../line.ts'
import { fileOf, nameOf, parts } from '../names.ts'
import { syncFolderLater } from '../own-file.ts'
import type { Surroundings } from '../surroundings.ts'

const day_ms = 86_400_000

/** Messages of one channel by one run: a moment of work, and few enough to be gone through in a night. */
const most_messages = 10_000
const batch = 200

/** By the journal's times: what a file says of its own age is the carrier's to choose. Both directions of each pinned peer. */
export async function dropOld(around: Surroundings, signal: AbortSignal): Promise<Dropped[]> {
  const dropped: Dropped[] = []
  for (const peer of await around.peers.list()) {
    const line = lineTo(peer.name, around)
    if (folderFault(line.folders, around.site, peer.name) !== undefined) continue
    for (const direction of ['out', 'in'] as const) dropped.push(await dropOldOf(line, direction, peer, around, signal))
  }
  return dropped.filter(({ messages }) => messages > 0)
}

async function dropOldOf(
  line: Line,
  direction: Direction,
  { keep_days }: Peer,
  { journal, clock }: Surroundings,
  signal: AbortSignal,
): Promise<Dropped> {
  const channel = line.channel[direction]
  const folder = direction === 'out' ? line.folders.sent : line.folders.done
  const before = clock.now() - keep_days * day_ms
  let messages = 0
  while (messages < most_messages && !signal.aborted) {
    const old = await journal.kept(channel, before, batch)
    if (old.length === 0) return { channel, messages, more: false }
    removeFiles(folder, old)
    await syncFolderLater(folder)
    await journal.dropKept(channel, old)
    messages += old.length
    await setImmediate()
  }
  return { channel, messages, more: true }
}

/** The files first: after a crash the journal still names those that are left. */
function removeFiles(folder: string, old: readonly MessageNumber[]): void {
  for (const { epoch, seq } of old) {
    for (const part of parts) fs.rmSync(join(folder, fileOf(nameOf(epoch, seq).stem, part)), { force: true })
  }
}
