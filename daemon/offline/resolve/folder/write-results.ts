// Writes the results of a run into its folder: all of them, or none.
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { ResultKind } from '../../../../adapters/platform/data-file/data-kinds.ts'
import { runAsInvoker } from '../../../boot/host/act-as-owner.ts'
import { type BlockTable, type ResultTable, writeFileAtomically, writeResultTable } from '../result-file.ts'

export type ResolutionResults = {
  readonly out: string
  readonly format: ResultKind
  readonly tables: readonly (ResultTable | BlockTable)[]
  /** By file name; the last one proves the others complete. */
  readonly documents: readonly (readonly [name: string, content: unknown])[]
  readonly onChunk: () => void
}

/**
 * Writes tables, then documents; an incomplete set could be mistaken for a result. `beforeLast` is called before the last
 * document.
 */
export async function writeResults(
  { out, format, tables, documents, onChunk }: ResolutionResults,
  beforeLast: () => void,
): Promise<void> {
  const written: string[] = []
  try {
    for (const table of tables) written.push(await writeResultTable(out, table, format, onChunk))
    for (const [at, [name, content]] of documents.entries()) {
      if (at === documents.length - 1) beforeLast()
      const file = join(out, name)
      writeFileAtomically(file, (write) => write(Buffer.from(`${JSON.stringify(content, undefined, 2)}\n`)))
      written.push(file)
    }
  } catch (error) {
    runAsInvoker(() => {
      for (const file of written) rmSync(file, { force: true })
    })
    throw error
  }
}
