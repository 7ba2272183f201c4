// Snapshots of other sites' registries on disk, as the resolution role is given them: a file for each lens, whole or not there.
import { createReadStream, existsSync, readdirSync, statSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { refuse } from '../../kernel/errors.ts'
import { runningDigest } from '../../kernel/running-digest.ts'
import type { Snapshots } from '../../roles/resolution/parts.ts'
import { type Holding, holding, type Line } from '../../roles/resolution/snapshot/model.ts'
import { dataOf, type SiteFolder } from '../site-folder.ts'
import { lastLineOf, linesOf } from './snapshot-lines.ts'

const ending = '.snapshot'

export function snapshotFolder(folder: SiteFolder): string {
  return join(dataOf(folder, 'resolution'), 'snapshots')
}

export function snapshotFile(folder: SiteFolder, lens: string): string {
  return join(snapshotFolder(folder), `${lens}${ending}`)
}

/** What is held of a lens; undefined where nothing is. Throws for a file that was not left by an import. */
export async function heldIn(file: string): Promise<Holding | undefined> {
  if (!existsSync(file)) return undefined
  const opened = await open(file, 'r')
  try {
    const last = await lastLineOf(opened, (await opened.stat()).size)
    if (!last) throw new Error(`${file} is no snapshot`)
    return holding.parse(JSON.parse(last.text))
  } finally {
    await opened.close()
  }
}

export function snapshotsIn(folder: SiteFolder): Snapshots {
  const known = new Map<string, { readonly key: string; readonly held: Holding }>()
  const lookAt = async (file: string) => {
    const { ino, mtimeMs, size } = statSync(file)
    const key = JSON.stringify([file, ino, mtimeMs, size])
    const before = known.get(file)
    if (before?.key === key) return before
    const held = await heldIn(file)
    if (!held) throw new Error(`${file} is gone`)
    const found = { key, held }
    known.set(file, found)
    return found
  }
  return {
    async list() {
      const dir = snapshotFolder(folder)
      const names = existsSync(dir) ? readdirSync(dir).filter((name) => name.endsWith(ending)) : []
      const found = await Promise.all(names.sort().map((name) => lookAt(join(dir, name))))
      return found.map(({ key, held: { manifest, imported_at, label, labels } }) => {
        return { key, manifest, imported_at, label, labels }
      })
    },
    async read(lens) {
      const file = snapshotFile(folder, lens)
      const held = existsSync(file) ? await heldIn(file).catch(() => undefined) : undefined
      if (!held) return refuse('unavailable', 'the snapshot of the registry cannot be read: take it in again')
      return { labels: held.labels, lines: checkedLines(file, held) }
    },
  }
}

/** Throws `Refused('unavailable')` at the end for a file that is not what was taken in. */
async function* checkedLines(file: string, { manifest }: Holding): AsyncGenerator<Line> {
  const digest = runningDigest()
  for await (const text of linesOf(createReadStream(file, { end: manifest.bytes - 1 }))) {
    digest.add(`${text}\n`)
    yield JSON.parse(text) as Line
  }
  if (digest.hex() !== manifest.sha256) {
    throw refuse('unavailable', 'the snapshot of the registry is damaged: take it in again')
  }
}
