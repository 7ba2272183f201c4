// Lists the incoming folders: messages in sequence order, and unrecognized files.
import * as fsp from 'node:fs/promises'
import { join } from 'node:path'
import type { ChannelFolders } from '../../files/channel-folders.ts'
import type { DroppedFilePath } from '../../files/dropped-file.ts'
import { type MessageName, type MessagePart, parseMessageName, partPath } from '../../files/message-name.ts'

/**
 * Where each part of a message lies; `work` when it was there before. `is_copy`: both parts in `new`, of a message that lies
 * whole in `work`.
 */
export type IncomingItem = MessageName & {
  readonly [P in MessagePart]: 'new' | 'work' | undefined
} & { readonly is_copy?: true }
/** `bytes`: of its name, each as one character, since a carrier may bring names that are not text. */
export type UnrecognizedFile = { readonly folder: string; readonly raw_name: string }
export type IncomingFiles = {
  /** Made anew by each walk: of a hundred thousand only the names are in memory all at once. */
  readonly items: Iterable<IncomingItem>
  readonly unrecognized: readonly UnrecognizedFile[]
}

/** Throws when a folder cannot be read. */
export async function listIncoming({ work, fresh }: Pick<ChannelFolders, 'work' | 'fresh'>): Promise<IncomingFiles> {
  const unrecognized: UnrecognizedFile[] = []
  const messagesIn = async (folder: string) => {
    const files = await fsp.readdir(folder, { encoding: 'latin1' })
    return files.filter(
      (bytes) => parseMessageName(bytes) !== undefined || !unrecognized.push({ folder, raw_name: bytes }),
    )
  }
  const [inWork, inFresh] = [await messagesIn(work), await messagesIn(fresh)]
  const files = [...inWork, ...inFresh].sort()
  const known = new Set(inWork)
  return { items: { [Symbol.iterator]: () => groupItems(files, known) }, unrecognized }
}

type PartLocations = { [P in MessagePart]: IncomingItem[P] }

/** `files` rise; one that lies in both folders is there twice. */
function* groupItems(files: readonly string[], inWork: ReadonlySet<string>): Generator<IncomingItem> {
  for (let at = 0; at < files.length; ) {
    const name = parseMessageName(files[at] ?? '')
    if (!name) return
    const work: PartLocations = { env: undefined, body: undefined }
    const fresh: PartLocations = { env: undefined, body: undefined }
    for (let file = files[at]; file?.startsWith(name.stem); file = files[++at]) {
      const part = file.endsWith('.env.json') ? 'env' : 'body'
      if (inWork.has(file) && !work[part]) work[part] = 'work'
      else fresh[part] = 'new'
    }
    yield toItem(name, work, fresh)
    if (work.env && work.body && fresh.env && fresh.body) yield { ...name, ...fresh, is_copy: true }
  }
}

/** A file in `work` goes before a new copy of it; half a message does not go before a complete copy. */
function toItem({ stem, epoch, seq }: MessageName, work: PartLocations, fresh: PartLocations): IncomingItem {
  const isWholeAgain = work.env !== work.body && fresh.env && fresh.body
  const { env, body } = isWholeAgain ? fresh : { env: work.env ?? fresh.env, body: work.body ?? fresh.body }
  return { stem, epoch, seq, env, body }
}

export function itemPath(folders: ChannelFolders, item: IncomingItem, part: MessagePart): string {
  return partPath(item[part] === 'new' ? folders.fresh : folders.work, item.stem, part)
}

/** Name and path of an unrecognised file: bytes where a text would name another file. */
export function locateUnrecognized({ folder, raw_name }: UnrecognizedFile): {
  readonly name: string | Buffer
  readonly path: DroppedFilePath
} {
  const raw = Buffer.from(raw_name, 'latin1')
  const text = raw.toString('utf8')
  if (Buffer.from(text).equals(raw)) return { name: text, path: join(folder, text) }
  return { name: raw, path: Buffer.concat([Buffer.from(`${folder}/`), raw]) }
}
