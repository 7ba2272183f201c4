// Replaces a file that is named on the command line: after a crash it has the old or the new content, never a part.
import { writeDurably } from '../../adapters/platform/durable-file/write-durably.ts'
import { offline } from '../../daemon/offline/offline.ts'

/** Replaces the file with the rights of the invoking user. */
export function replaceFile(file: string, content: string): void {
  offline.asInvoker(() => writeDurably(file, content))
}
