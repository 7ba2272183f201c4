// Writes a file of a run durably, under a draft name that a run after a crash uses again.
import { writeDurably } from '../../../../adapters/platform/durable-file/write-durably.ts'

/** `write` receives the descriptor. A former file of the name stays until the new one is complete. */
export function writeRunFile(file: string, write: (descriptor: number) => void): void {
  writeDurably(file, write, { draft: `${file}.part`, existing_draft: 'overwrite' })
}
