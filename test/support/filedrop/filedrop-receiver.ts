// A receiving site with all parts of file-drop, and the plainest handler, which collects its messages.

import * as fs from 'node:fs'
import { join } from 'node:path'
import { systemRandom } from '../../../adapters/host/random/system-random.ts'
import { joseSignatures } from '../../../adapters/keys/jose/signatures.ts'
import { type SqliteAudit, sqliteAudit } from '../../../adapters/store/sqlite/audit/audit.ts'
import { sqliteJournal } from '../../../adapters/store/sqlite/journal/journal.ts'
import { type SqliteFile, sqliteFile } from '../../../adapters/store/sqlite/sqlite-file.ts'
import { type ChannelFolders, foldersOf } from '../../../adapters/transport/filedrop/files/channel-folders.ts'
import { type FiledropTransport, filedropTransport } from '../../../adapters/transport/filedrop/transport.ts'
import type { Peer } from '../../../daemon/kernel/identity/peer.ts'
import type { Journal } from '../../../daemon/kernel/messaging/journal.ts'
import type { DeliveryVerdict, InboundMessage } from '../../../daemon/kernel/messaging/transport.ts'
import { messageKinds } from '../../../daemon/message-kinds.ts'
import { label_policy, receiver, sender } from './message-generator.ts'

export type FiledropReceiver = {
  readonly folders: ChannelFolders
  readonly file: SqliteFile
  readonly audit: SqliteAudit
  readonly journal: Journal
  readonly transport: FiledropTransport
  /** Messages that the handler has stored. */
  takenCount(): number
  close(): Promise<void>
}

/** Enrolled with the peer and started; scans only on demand. `backlog`: a folder that takes the place of `new`. */
export async function startFiledropReceiver(home: string, peer: Peer, backlog?: string): Promise<FiledropReceiver> {
  const file = sqliteFile({ file: join(home, 'site.db'), addonDir: join(home, 'native') })
  const audit = sqliteAudit(file, 'site@bench')
  const journal = sqliteJournal(file, audit)
  const silent = () => undefined
  const root = join(home, 'filedrop')
  const transport = filedropTransport({
    ...{ site: receiver.name, tenant_id: receiver.tenant_id, root, journal, label_policy, kinds: messageKinds },
    peers: { list: async () => [peer], get: async (name) => (name === peer.name ? peer : undefined) },
    signatures: joseSignatures({ dir: join(home, 'keys') }),
    clock: { now: () => Date.now(), monotonic: () => performance.now() },
    random: systemRandom(),
    log: { debug: silent, info: silent, warn: silent, error: silent },
    record: (events) => audit.append(events),
    metrics: { count: silent, set: silent },
    settings: { rescan_ms: 0, watch: false },
  })
  await transport.enrol(peer)
  const folders = foldersOf(root, sender.name)
  if (backlog !== undefined) fs.renameSync(backlog, folders.fresh)
  await transport.start(storeDurably(file))
  // The scan of the start is over before anything comes, but for a backlog, which is what it is to find.
  if (backlog === undefined) await transport.rescan()
  return {
    folders,
    ...{ file, audit, journal, transport },
    takenCount: () => file.read((db) => db.prepare<[], number>('SELECT count(*) FROM taken').pluck().get() ?? 0),
    async close() {
      await transport.stop()
      await file.close()
    },
  }
}

/** As a role does it: the message's id is stored with the effect, so that a repeat changes nothing. */
function storeDurably(file: SqliteFile): (message: InboundMessage) => Promise<DeliveryVerdict> {
  file.read((db) => db.exec('CREATE TABLE IF NOT EXISTS taken (msg_id TEXT PRIMARY KEY, body TEXT NOT NULL) STRICT'))
  const insert = file.db.prepare('INSERT OR IGNORE INTO taken VALUES (?, ?)')
  return async ({ statement, body_text }) => {
    await file.write(() => insert.run(statement.msg_id, body_text))
    return { verdict: 'applied' }
  }
}
