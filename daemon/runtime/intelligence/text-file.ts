// Reads a small file named in the profile; a refusal gives the reason without the name.
import { type FileHandle, open } from 'node:fs/promises'
import { type Refusal, refuse } from '../../kernel/error/errors.ts'

const max_bytes = 1_048_576

/** `findFault`: a fault of its owner or mode that forbids its use. */
export async function readTextFile(
  file: string,
  findFault: (stats: { readonly mode: number; readonly uid: number }) => string | undefined = () => undefined,
): Promise<string | Refusal> {
  let handle: FileHandle | undefined
  try {
    handle = await open(file, 'r')
    const stats = await handle.stat()
    const fault = stats.isFile() ? findFault(stats) : 'is not a regular file'
    if (fault !== undefined) return refuse('unavailable', `a file that the source needs ${fault}`)
    if (stats.size > max_bytes) return refuse('unavailable', 'a file that the source needs is too large')
    return await handle.readFile('utf8')
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown'
    return refuse('unavailable', `a file that the source needs cannot be read: ${code}`)
  } finally {
    await handle?.close()
  }
}
