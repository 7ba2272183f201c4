// Finds the script of a thread: a compressed text in the executable, where threads cannot load modules; a module from sources.
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { zstdDecompressSync } from 'node:zlib'
import type { ThreadScript } from '../../../adapters/compute/threads/start-worker.ts'

/** `bundled`: name of the text in the executable, where it has the ending `.zst`. `module`: file in the sources. */
export function findThreadScript(bundled: string, module: URL): ThreadScript {
  const file = join(dirname(fileURLToPath(import.meta.url)), `${bundled}.zst`)
  return existsSync(file) ? { source: zstdDecompressSync(readFileSync(file)).toString() } : { module }
}
