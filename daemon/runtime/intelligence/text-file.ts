// Reads a small file named in the profile; a refusal gives the reason without the name.
import { type FileHandle, open } from 'node:fs/promises'
import { type Refusal, refuse } from '../../kernel/error/errors.ts'

const max_bytes = 1_048_576

export async function readTextFile(file: string): Promise<string | Refusal> {
  let handle: FileHandle | undefined
  try {
    handle = await open(file, 'r')
    const stats = await handle.stat()
    if (!stats.isFile()) return refuse('unavailable', 'a file that the source needs is not a regular file')
    if (stats.size > max_bytes) return refuse('unavailable', 'a file that the source needs is too large')
    return await handle.readFile('utf8')
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown'
    return refuse('unavailable', `a file that the source needs cannot be read: ${code}`)
  } finally {
    await handle?.close()
  }
}
