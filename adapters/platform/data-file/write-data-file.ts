// Writes blocks to a data file: at the pace of the disk, and the whole file or none.
import { closeSync, fsync, openSync, renameSync, rmSync, write } from 'node:fs'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import type { DataBlock } from '../../../daemon/kernel/data/data-block.ts'
import type { DataSchema } from '../../../daemon/kernel/data/data-schema.ts'
import { syncFolder } from '../durable-file/sync-folder.ts'
import { loadDataWriter, type ResultKind } from './data-kinds.ts'

export type DataFileContent = {
  readonly kind: ResultKind
  readonly schema: DataSchema
  /** The next block is requested once the one before is with the operating system. */
  readonly blocks: AsyncIterable<DataBlock> | Iterable<DataBlock>
}

export type DataFileWriteOptions = {
  /** Runs before bytes are written; an exception discards the draft. */
  readonly beforeWrite?: () => void
  /** Runs when the draft is on disk; an exception discards it, and a former file stays. */
  readonly beforeRename?: () => void
  /** Runs each operation on a path, as a command does for another user (default: as the user of the process). */
  readonly runAs?: <T>(action: () => T) => T
}

const syncAsync = promisify(fsync)
const writeAsync = promisify(write)

/**
 * Resolves once the file is durable under its name. Its draft, which has the ending `.partial`, is removed after a failure;
 * one that exists belongs to another writer or to a crash: EEXIST. Throws `DataFault` for a block that is not of the schema,
 * what reading the blocks throws, and what the file system throws.
 */
export async function writeDataFile(
  file: string,
  content: DataFileContent,
  { beforeWrite = () => undefined, beforeRename, runAs = (action) => action() }: DataFileWriteOptions = {},
): Promise<void> {
  const draft = `${file}.partial`
  const opened = runAs(() => openSync(draft, 'wx', 0o600))
  try {
    try {
      for await (const bytes of encodeBlocks(content)) {
        beforeWrite()
        await writeAll(opened, bytes)
      }
      await syncAsync(opened)
    } finally {
      closeSync(opened)
    }
    runAs(() => {
      beforeRename?.()
      renameSync(draft, file)
    })
  } catch (error) {
    runAs(() => rmSync(draft, { force: true }))
    throw error
  }
  runAs(() => syncFolder(dirname(file)))
}

async function* encodeBlocks({ kind, schema, blocks }: DataFileContent): AsyncGenerator<Uint8Array> {
  let pending: Uint8Array[] = []
  // A writer uses its buffer again, and `slice` of a Buffer does not copy.
  const writer = (await loadDataWriter(kind))(schema, (bytes) => pending.push(new Uint8Array(bytes)))
  const take = () => {
    const taken = pending
    pending = []
    return taken
  }
  for await (const block of blocks) {
    writer.write(block)
    yield* take()
  }
  writer.end()
  yield* take()
}

/** The system may accept fewer bytes than it was given. */
async function writeAll(opened: number, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length; ) at += (await writeAsync(opened, bytes, at, bytes.length - at)).bytesWritten
}
