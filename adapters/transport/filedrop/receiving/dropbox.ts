// What lies in the incoming folders, as messages in the order of their numbers, and what is none.
import * as fsp from 'node:fs/promises'
import { join } from 'node:path'
import type { Path } from '../checks/dropped-file.ts'
import type { Folders } from '../layout.ts'
import { type MessageName, type Part, parseName, pathIn } from '../names.ts'

/** Where each part of a message lies; `work` when it was there before. */
export type Item = MessageName & { readonly [P in Part]: 'new' | 'work' | undefined }
/** `bytes`: of its name, each as one character, since a carrier may bring names that are no text. */
export type Stranger = { readonly folder: string; readonly bytes: string }
export type Dropbox = {
  /** Made anew by each walk: of a hundred thousand only the names are in memory all at once. */
  readonly items: Iterable<Item>
  readonly strangers: readonly Stranger[]
}

/** Throws when a folder cannot be read. */
export async function lookInto({ work, fresh }: Pick<Folders, 'work' | 'fresh'>): Promise<Dropbox> {
  const strangers: Stranger[] = []
  const messagesIn = async (folder: string) => {
    const files = await fsp.readdir(folder, { encoding: 'latin1' })
    return files.filter((bytes) => parseName(bytes) !== undefined || !strangers.push({ folder, bytes }))
  }
  const [inWork, inFresh] = [await messagesIn(work), await messagesIn(fresh)]
  const files = [...inWork, ...inFresh].sort()
  const known = new Set(inWork)
  return { items: { [Symbol.iterator]: () => itemsOf(files, known) }, strangers }
}

type Places = { [P in Part]: Item[P] }

/** `files` rise; one that lies in both folders is there twice. */
function* itemsOf(files: readonly string[], inWork: ReadonlySet<string>): Generator<Item> {
  for (let at = 0; at < files.length; ) {
    const name = parseName(files[at] ?? '')
    if (!name) return
    const work: Places = { env: undefined, body: undefined }
    const fresh: Places = { env: undefined, body: undefined }
    for (let file = files[at]; file?.startsWith(name.stem); file = files[++at]) {
      const part = file.endsWith('.env.json') ? 'env' : 'body'
      if (inWork.has(file) && !work[part]) work[part] = 'work'
      else fresh[part] = 'new'
    }
    yield itemOf(name, work, fresh)
  }
}

/** What is in `work` already wins over a copy of it that has just come in, but a half over no copy that has come whole. */
function itemOf({ stem, epoch, seq }: MessageName, work: Places, fresh: Places): Item {
  const isWholeAgain = work.env !== work.body && fresh.env && fresh.body
  const { env, body } = isWholeAgain ? fresh : { env: work.env ?? fresh.env, body: work.body ?? fresh.body }
  return { stem, epoch, seq, env, body }
}

export function pathOf(folders: Folders, item: Item, part: Part): string {
  return pathIn(item[part] === 'new' ? folders.fresh : folders.work, item.stem, part)
}

/** Name and path of a stranger: bytes where a text would name another file. */
export function whereIs({ folder, bytes }: Stranger): { readonly name: string | Buffer; readonly path: Path } {
  const raw = Buffer.from(bytes, 'latin1')
  const text = raw.toString('utf8')
  if (Buffer.from(text).equals(raw)) return { name: text, path: join(folder, text) }
  return { name: raw, path: Buffer.concat([Buffer.from(`${folder}/`), raw]) }
}
