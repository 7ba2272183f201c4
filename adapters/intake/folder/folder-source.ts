// A folder of files with a JSON object on each line: each file is taken whole or not at all, then moved out of the way.
import { constants } from 'node:fs'
import { type FileHandle, mkdir, open, readdir, rename, stat } from 'node:fs/promises'
import path from 'node:path'
import { isRefusal, type Refusal, refuse } from '../../../daemon/kernel/error/errors.ts'
import type {
  JsonReader,
  PolledDocumentFault,
  PolledSource,
  PollResult,
} from '../../../daemon/shared/polled-source/polled-source.ts'
import { writeDurablyAsync } from '../../platform/durable-file/write-durably.ts'

export const max_file_bytes = 16 * 1_048_576
const max_lines = 10_000
export const max_line_bytes = 65_536

export type FolderSourceOptions = {
  readonly path: string
  readonly read: JsonReader
  /** Hexadecimal. */
  readonly digest: (bytes: Uint8Array) => string
}

/**
 * Takes `*.jsonl` in the order of names, one at a poll. A file comes under its name when it is whole: written under
 * another and renamed. Links and other entries that are not regular files stay untouched.
 */
export function folderSource(options: FolderSourceOptions): PolledSource {
  return {
    async poll(_cursor, signal) {
      try {
        const names = (await readdir(options.path)).filter((name) => /^[^.].*\.jsonl$/.test(name)).sort()
        for (const [at, name] of names.entries()) {
          if (signal.aborted) break
          const news = await pollFile(options, name, at < names.length - 1)
          if (news) return news
        }
        return { sets: [], cursor: undefined, has_more: false, acknowledge: async () => undefined }
      } catch (error) {
        return refuse('unavailable', `the folder cannot be read: ${errorCode(error)}`)
      }
    },
  }
}

/** Undefined for an entry that is not a regular file, or is gone. */
async function pollFile(
  options: FolderSourceOptions,
  name: string,
  has_more: boolean,
): Promise<PollResult | undefined> {
  const file = path.join(options.path, name)
  const taken = await readContent(file)
  if (!taken) return undefined
  const { bytes, identity } = taken
  const known = isRefusal(bytes) ? '' : options.digest(bytes)
  const documents = isRefusal(bytes) ? [bytes] : parseLines(bytes, options.read)
  return {
    sets: [{ set_id: known, documents, is_whole: true }],
    cursor: undefined,
    has_more,
    async acknowledge(faults) {
      const found = await stat(file).catch(() => undefined)
      // Another file has taken its name meanwhile, and is read in its turn.
      if (!found || fileIdentity(found) !== identity) return
      const mark = known || options.digest(Buffer.from(identity))
      await archiveFile(options.path, name, mark.slice(0, 16), faults.get(0) ?? [])
    },
  }
}

async function readContent(file: string): Promise<{ bytes: Buffer | Refusal; identity: string } | undefined> {
  let handle: FileHandle
  try {
    // Never waits for the other end of a pipe, and follows no link.
    handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch (error) {
    if (['ENOENT', 'ELOOP', 'ENXIO'].includes(errorCode(error))) return undefined
    throw error
  }
  try {
    const found = await handle.stat()
    if (!found.isFile()) return undefined
    const identity = fileIdentity(found)
    if (found.size > max_file_bytes) return { bytes: fileTooLarge(`more than ${max_file_bytes} bytes`), identity }
    return { bytes: await handle.readFile(), identity }
  } finally {
    await handle.close()
  }
}

/** A file that grows or is replaced while it is taken is another one. */
function fileIdentity({ ino, size, mtimeMs }: { ino: number; size: number; mtimeMs: number }): string {
  return `${ino} ${size} ${mtimeMs}`
}

function parseLines(bytes: Buffer, read: JsonReader): readonly (unknown | Refusal)[] {
  const lines: Buffer[] = []
  for (let from = 0; from < bytes.length; ) {
    const found = bytes.indexOf(0x0a, from)
    const to = found < 0 ? bytes.length : found
    lines.push(bytes.subarray(from, to))
    from = to + 1
  }
  if (lines.length > max_lines) return [fileTooLarge(`more than ${max_lines} lines`)]
  if (lines.length === 0) return [refuse('malformed', 'the file is empty')]
  return lines.map((line) => {
    if (line.length > max_line_bytes) return fileTooLarge(`a line of more than ${max_line_bytes} bytes`)
    const document = read(line)
    const isObject = typeof document === 'object' && document !== null && !Array.isArray(document)
    return isObject ? document : refuse('malformed', 'the line is not a JSON object')
  })
}

function fileTooLarge(what: string): Refusal {
  return refuse('too_large', `the file has ${what}`)
}

/** The reason is there before the file, so that no file lies in `refused` without one. */
async function archiveFile(
  folder: string,
  name: string,
  mark: string,
  faults: readonly PolledDocumentFault[],
): Promise<void> {
  const to = path.join(folder, faults.length > 0 ? 'refused' : 'done')
  await mkdir(to, { recursive: true })
  const isTaken = await stat(path.join(to, name)).then(
    () => true,
    () => false,
  )
  const as = isTaken ? `${name.slice(0, -'.jsonl'.length)}-${mark}.jsonl` : name
  if (faults.length > 0) {
    const lines = faults.slice(0, 1_000).map(({ at, detail }) => ({ line: at + 1, detail }))
    const reason = path.join(to, `${as}.reason.json`)
    await writeDurablyAsync(reason, `${JSON.stringify({ file: name, faults: lines }, null, 2)}\n`, {
      draft: `${reason}.draft`,
      existing_draft: 'overwrite',
    })
  }
  await rename(path.join(folder, name), path.join(to, as))
}

function errorCode(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? 'unknown'
}
