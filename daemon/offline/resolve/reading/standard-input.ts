// Takes standard input as a data file: into a file without a name, since encoding and delimiter are found in all of it.
import { closeSync, mkdtempSync, openSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type DataFile, DataFileError, openDataDescriptor } from '../../../../adapters/platform/data-file/data-file.ts'
import { writeFully } from '../../../../adapters/platform/durable-file/write-durably.ts'
import { runAsInvoker } from '../../../boot/host/act-as-owner.ts'
import { OfflineCommandError } from '../../offline-command-error.ts'

/** The bytes of standard input; undefined where it is a terminal. */
export type StandardInput = () => AsyncIterable<Uint8Array> | undefined

const max_input_bytes = 17_179_869_184

const reasonsByCode: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk of temporary files is full',
  EDQUOT: 'the disk of temporary files is full',
}

/** Descriptors of what was read, since a command may read it twice: to digest it, and for its records. */
const kept = new WeakMap<StandardInput, number>()

/**
 * Opens standard input, of which all is read at first. `onRead` is called before each part. Throws `OfflineCommandError` (2)
 * where a person would have to type the data, and `DataFileError` where they cannot be kept.
 */
export async function openStandardInput(input: StandardInput, onRead: () => void): Promise<DataFile> {
  const descriptor = kept.get(input) ?? (await keepInput(input, onRead))
  kept.set(input, descriptor)
  return openDataDescriptor(openSync(`/proc/self/fd/${descriptor}`, 'r'))
}

async function keepInput(input: StandardInput, onRead: () => void): Promise<number> {
  const bytes = input()
  if (!bytes)
    throw new OfflineCommandError(
      2,
      'standard input is a terminal',
      'pipe the data into the command (`cat people.csv | platform …`), or name a file',
    )
  const descriptor = openUnnamedFile()
  try {
    let length = 0
    for await (const part of bytes) {
      onRead()
      length += part.length
      if (length > max_input_bytes)
        throw new DataFileError(`has more than ${max_input_bytes} bytes`, 'write it into a file, and name that')
      writeFully(descriptor, part)
    }
    return descriptor
  } catch (error) {
    closeSync(descriptor)
    const { syscall, code = '' } = error as NodeJS.ErrnoException
    if (syscall === undefined) throw error
    throw new DataFileError(`cannot be read: ${reasonsByCode[code] ?? code}`)
  }
}

/** A file that is gone with its descriptor, also where the process is killed. */
function openUnnamedFile(): number {
  return runAsInvoker(() => {
    const folder = mkdtempSync(join(tmpdir(), 'platform-stdin-'))
    try {
      return openSync(join(folder, 'stdin'), 'wx+', 0o600)
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })
}
