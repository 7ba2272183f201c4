// What lies in the incoming folders, as messages in the order of their numbers, and what is none.
import * as fs from 'node:fs'
import { join } from 'node:path'
import type { Path } from './dropped-file.ts'
import type { Folders } from './layout.ts'
import { isTemporary, type MessageName, type Part, parseName, parts, pathIn } from './names.ts'

/** Where each part of a message lies; `work` when it was there before. */
export type Item = MessageName & { readonly [P in Part]: 'new' | 'work' | undefined }
export type Stranger = { readonly name: string | Buffer; readonly path: Path; readonly isTemporary: boolean }
export type Dropbox = { readonly items: readonly Item[]; readonly strangers: readonly Stranger[] }

/** Names are read as bytes: a carrier may bring names that are no text. Throws when a folder cannot be read. */
export function lookInto(folders: Folders): Dropbox {
  const items = new Map<string, { -readonly [K in keyof Item]: Item[K] }>()
  const again = new Map<string, Set<Part>>()
  const strangers: Stranger[] = []
  // `work` first: what is there already wins over a copy of it that has just come in.
  for (const [place, folder] of [
    ['work', folders.work],
    ['new', folders.fresh],
  ] as const) {
    for (const raw of fs.readdirSync(folder, { encoding: 'buffer' })) {
      const name = parseName(raw.toString('latin1'))
      if (!name) {
        strangers.push(strangerOf(folder, raw))
        continue
      }
      const { stem, epoch, seq, part } = name
      const item = items.get(stem) ?? { stem, epoch, seq, env: undefined, body: undefined }
      if (item[part] === undefined) item[part] = place
      else again.set(stem, (again.get(stem) ?? new Set()).add(part))
      items.set(stem, item)
    }
  }
  for (const [stem, copies] of again) {
    const item = items.get(stem)
    // A half that a power cut left is worth less than a copy that has come whole.
    const isHalf = item?.env !== item?.body
    if (item && isHalf && parts.every((part) => item[part] === 'new' || copies.has(part))) item.env = item.body = 'new'
  }
  return { items: [...items.values()].sort((a, b) => (a.stem < b.stem ? -1 : 1)), strangers }
}

export function pathOf(folders: Folders, item: Item, part: Part): string {
  return pathIn(item[part] === 'new' ? folders.fresh : folders.work, item.stem, part)
}

/** A path of bytes where a text would name another file. */
function strangerOf(folder: string, raw: Buffer): Stranger {
  const text = raw.toString('utf8')
  const isText = Buffer.from(text).equals(raw)
  return {
    name: isText ? text : raw,
    path: isText ? join(folder, text) : Buffer.concat([Buffer.from(`${folder}/`), raw]),
    isTemporary: isTemporary(text),
  }
}
