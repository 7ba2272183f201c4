// Reads a small file that the profile names; errors do not contain its name.
import { type FileHandle, open } from 'node:fs/promises'
import { type Refusal, refuse } from '../../kernel/error/errors.ts'

const max_bytes = 1_048_576

/** `judge`: why it must not be used, by its owner and mode. */
export async function readTextFile(
  file: string,
  findFault: (found: { readonly mode: number; readonly uid: number }) => string | undefined = () => undefined,
): Promise<string | Refusal> {
  let handle: FileHandle | undefined
  try {
    handle = await open(file, 'r')
    const found = await handle.stat()
    const fault = found.isFile() ? findFault(found) : 'is no file'
    if (fault !== undefined) return refuse('unavailable', `a file that the source needs ${fault}`)
    if (found.size > max_bytes) return refuse('unavailable', 'a file that the source needs is too large')
    return await handle.readFile('utf8')
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown'
    return refuse('unavailable', `a file that the source needs cannot be read: ${code}`)
  } finally {
    await handle?.close()
  }
}
