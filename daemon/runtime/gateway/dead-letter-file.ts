// The file of observations that could not be stored: lines of JSON, appended durably, readable by its owner alone, and bounded.
import { open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { syncFolderAsync } from '../../../adapters/platform/durable-file/sync-folder.ts'
import type { DeadLetters } from '../../roles/gateway/guide/observation/parts.ts'

/** A store that fails for days must not fill the disk. */
const max_dead_letter_bytes = 268_435_456

export function deadLetterFile(path: string, max_bytes = max_dead_letter_bytes): DeadLetters {
  let last: Promise<unknown> = Promise.resolve()
  return {
    append(lines) {
      // One after the other, so that no two batches mix.
      const appended = last.then(() => appendLines(path, lines, max_bytes))
      last = appended.catch(() => undefined)
      return appended
    },
  }
}

async function appendLines(path: string, lines: readonly string[], max_bytes: number): Promise<boolean> {
  const file = await open(path, 'a', 0o600)
  try {
    const text = lines.map((line) => `${line}\n`).join('')
    const { size } = await file.stat()
    if (size + Buffer.byteLength(text) > max_bytes) return false
    await file.appendFile(text)
    await file.sync()
    if (size === 0) await syncFolderAsync(dirname(path))
    return true
  } finally {
    await file.close()
  }
}
