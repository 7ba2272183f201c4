// The Parquet files behind a connection that have not landed yet, by name, size and digest.
import { setImmediate } from 'node:timers/promises'
import { type DataFile, DataFileError } from '../../../../adapters/platform/data-file/data-file.ts'
import { type DatasetCursor, type DatasetInput, max_known_files } from '../../../kernel/data/landed-dataset.ts'
import { runningDigest } from '../../../kernel/encoding/running-digest.ts'
import { RowSourceError } from '../../../shared/row-source/row-source.ts'

type KnownFile = NonNullable<DatasetCursor['files']>[number]

const piece_bytes = 1 << 22

/**
 * Keeps the names of files that are not among `known`. A file with a known name and size is read for its digest. Throws
 * `RowSourceError`, and what `open` throws.
 */
export async function findNewFiles(
  names: readonly string[],
  known: readonly KnownFile[],
  open: (name: string) => DataFile,
): Promise<readonly string[]> {
  const found: string[] = []
  for (const name of names) {
    const file = open(name)
    try {
      const alike = known.filter((each) => each.name === baseName(name) && each.bytes === file.size)
      const sha256 = alike.length === 0 ? undefined : await digestFile(file)
      if (!alike.some((each) => each.sha256 === sha256)) found.push(name)
    } catch (error) {
      throw error instanceof DataFileError ? new RowSourceError(`the data file ${error.message}`, false) : error
    } finally {
      file.close()
    }
  }
  return found
}

/** As a dataset names its inputs. */
export function baseName(name: string): string {
  return name.split('/').at(-1) ?? name
}

async function digestFile(file: DataFile): Promise<string> {
  const digested = runningDigest()
  for (let at = 0; at < file.size; at += piece_bytes) {
    digested.add(new Uint8Array(file.read(at, Math.min(file.size, at + piece_bytes))))
    await setImmediate()
  }
  file.checkUnchanged()
  return digested.hex()
}

/**
 * The files that have landed with these inputs. Beyond the bound the oldest are forgotten: first those whose name has a newer one, then
 * those that are in the folder no more. `present` names those that are: fewer than the bound.
 */
export function addKnownFiles(
  known: readonly KnownFile[],
  inputs: readonly Pick<DatasetInput, 'name' | 'bytes' | 'sha256'>[],
  present: readonly string[],
): KnownFile[] {
  const all = [...known, ...inputs.map(({ name, bytes, sha256 }) => ({ name, bytes, sha256 }))]
  const there = new Set(present.map(baseName))
  const newest = new Map(all.map(({ name }, at) => [name, at]))
  const dated = forgetOldest(all, ({ name }, at) => newest.get(name) !== at)
  return forgetOldest(dated, ({ name }) => !there.has(name))
}

function forgetOldest(files: readonly KnownFile[], mayForget: (file: KnownFile, at: number) => boolean): KnownFile[] {
  let surplus = files.length - max_known_files
  return files.filter((file, at) => surplus <= 0 || !mayForget(file, at) || surplus-- <= 0)
}
