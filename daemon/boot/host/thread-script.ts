// Finds the script of a thread: a text in the executable, where threads cannot load modules; a module from sources.
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ThreadScript } from '../../../adapters/compute/threads/start-worker.ts'

/** `bundled`: name of the text in the executable. `module`: file in the sources. */
export function findThreadScript(bundled: string, module: URL): ThreadScript {
  const file = join(dirname(fileURLToPath(import.meta.url)), bundled)
  return existsSync(file) ? { source: readFileSync(file, 'utf8') } : { module }
}
