// Provides imported snapshots of other sites' registries to the resolution role: one complete file for each lens.
import { createReadStream, existsSync, readdirSync, statSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { roleDataFolder, type SiteFolder } from '../../../boot/storage/site-folder.ts'
import { runningDigest } from '../../../kernel/encoding/running-digest.ts'
import { refuse } from '../../../kernel/error/errors.ts'
import type { SnapshotStore } from '../../../roles/resolution/parts.ts'
import {
  type ImportedSnapshotTrailer,
  importedSnapshotTrailer,
  type SnapshotLine,
} from '../../../roles/resolution/snapshot/model.ts'
import { readLastLine, splitIntoLines } from './snapshot-lines.ts'

const snapshot_extension = '.snapshot'

export function snapshotFolder(folder: SiteFolder): string {
  return join(roleDataFolder(folder, 'resolution'), 'snapshots')
}

export function snapshotFile(folder: SiteFolder, lens: string): string {
  return join(snapshotFolder(folder), `${lens}${snapshot_extension}`)
}

/** Reads the trailer of the snapshot of a lens; undefined where there is none. Throws for a file that no import wrote. */
export async function readSnapshotTrailer(file: string): Promise<ImportedSnapshotTrailer | undefined> {
  if (!existsSync(file)) return undefined
  const handle = await open(file, 'r')
  try {
    const lastLine = await readLastLine(handle, (await handle.stat()).size)
    if (!lastLine) throw new Error(`${file} is not a snapshot`)
    return importedSnapshotTrailer.parse(JSON.parse(lastLine.line.toString('utf8')))
  } finally {
    await handle.close()
  }
}

export function fileSnapshotStore(folder: SiteFolder): SnapshotStore {
  const cache = new Map<string, { readonly key: string; readonly trailer: ImportedSnapshotTrailer }>()
  const readEntry = async (file: string) => {
    const { ino, mtimeMs, size } = statSync(file)
    const key = JSON.stringify([file, ino, mtimeMs, size])
    const cached = cache.get(file)
    if (cached?.key === key) return cached
    const trailer = await readSnapshotTrailer(file)
    if (!trailer) throw new Error(`${file} does not exist any more`)
    const entry = { key, trailer }
    cache.set(file, entry)
    return entry
  }
  return {
    async list() {
      const dir = snapshotFolder(folder)
      const names = existsSync(dir) ? readdirSync(dir).filter((name) => name.endsWith(snapshot_extension)) : []
      const entries = await Promise.all(names.sort().map((name) => readEntry(join(dir, name))))
      return entries.map(({ key, trailer: { manifest, imported_at, label, labels } }) => {
        return { key, manifest, imported_at, label, labels }
      })
    },
    async read(lens) {
      const file = snapshotFile(folder, lens)
      const trailer = existsSync(file) ? await readSnapshotTrailer(file).catch(() => undefined) : undefined
      if (!trailer) return refuse('unavailable', 'the snapshot of the registry cannot be read: import it again')
      return { labels: trailer.labels, lines: readVerifiedLines(file, trailer) }
    },
  }
}

/** Throws `Refusal('unavailable')` at the end for a file that differs from the imported one. */
async function* readVerifiedLines(file: string, { manifest }: ImportedSnapshotTrailer): AsyncGenerator<SnapshotLine> {
  const digest = runningDigest()
  for await (const line of splitIntoLines(createReadStream(file, { end: manifest.bytes - 1 }))) {
    digest.add(line)
    digest.add('\n')
    yield JSON.parse(line.toString('utf8')) as SnapshotLine
  }
  if (digest.hex() !== manifest.sha256) {
    throw refuse('unavailable', 'the snapshot of the registry is damaged: import it again')
  }
}
