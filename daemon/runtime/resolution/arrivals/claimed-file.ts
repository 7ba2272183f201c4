// A file that was taken from a folder: its digest, its records row by row, and the answers beside it.
import { createHash } from 'node:crypto'
import { ftruncateSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { setImmediate as pause } from 'node:timers/promises'
import type { DataFile } from '../../../../adapters/platform/data-file/data-file.ts'
import { describeDataFault } from '../../../../adapters/platform/data-file/describe-data-fault.ts'
import { TenantDataFileError } from '../../../../adapters/platform/data-file/tenant-data-file.ts'
import { syncFolderAsync } from '../../../../adapters/platform/durable-file/sync-folder.ts'
import { faultStop } from '../../../boot/host/fault-stop.ts'
import { type Refusal, refuse } from '../../../kernel/error/errors.ts'
import { type ClaimedFile, max_listed_rows } from '../../../roles/resolution/arrival-folder/watched-folder.ts'
import { describeFolderError, type FolderDescriptors } from './folder-descriptors.ts'
import type { RowReader } from './threaded-rows.ts'

const digest_chunk_bytes = 262_144

/** `folder`: closed with the file. The content is read once for its digest. Throws what reading throws. */
export async function openClaimedFile(
  folder: FolderDescriptors,
  { claim, file, opened }: { readonly claim: string; readonly file: string; readonly opened: DataFile },
  readRows: RowReader,
  signal: AbortSignal,
): Promise<ClaimedFile> {
  const digest = await digestFile(opened, signal)
  return {
    file,
    size: opened.size,
    digest,
    rows({ onLeftOut, ...options }) {
      const path = folder.path('work', claim, file)
      const job = { ...options, path, name: file, version: opened.version, max_listed: max_listed_rows }
      return readRows(job, onLeftOut, signal)
    },
    checkUnchanged: () => convertFault(() => opened.checkUnchanged()),
    append: (answers, from) => appendAnswers(folder, claim, file, answers, from),
    close() {
      opened.close()
      folder.close()
    },
  }
}

async function digestFile(opened: DataFile, signal: AbortSignal): Promise<string> {
  const hash = createHash('sha256')
  for (let start = 0; start < opened.size && !signal.aborted; start += digest_chunk_bytes) {
    hash.update(new Uint8Array(opened.read(start, Math.min(start + digest_chunk_bytes, opened.size))))
    await pause()
  }
  if (signal.aborted) throw refuse('unavailable', 'the service is stopping')
  opened.checkUnchanged()
  return hash.digest('hex')
}

/** Whatever a crash left after the first `from` bytes belongs to records that are answered again. */
async function appendAnswers(
  folder: FolderDescriptors,
  claim: string,
  file: string,
  answers: string,
  from: number,
): Promise<number> {
  faultStop?.('arrival-file-matched')
  try {
    const output = await open(folder.path('work', claim, answersName(file)), 'a+', 0o640)
    try {
      ftruncateSync(output.fd, from)
      await output.appendFile(answers)
      await output.sync()
    } finally {
      await output.close()
    }
    if (from === 0) await syncFolderAsync(folder.path('work', claim))
  } catch (error) {
    throw refuse('unavailable', `answers cannot be written: the folder ${describeFolderError(error)}`)
  }
  faultStop?.('arrival-file-answered')
  return from + Buffer.byteLength(answers)
}

function answersName(file: string): string {
  return `${file}.answers.jsonl`
}

function convertFault<T>(action: () => T): T {
  try {
    return action()
  } catch (error) {
    throw toRefusal(error)
  }
}

/** A fault of the content is final; the rest, such as a disk that does not answer, may be over later. */
export function toRefusal(error: unknown): Refusal | unknown {
  if (error instanceof TenantDataFileError && !error.isFinal) return refuse('unavailable', error.message)
  const fault = describeDataFault(error)
  if (!fault) return error
  return refuse('malformed', `the file${fault.text}${fault.remedy === undefined ? '' : ` (${fault.remedy})`}`)
}
