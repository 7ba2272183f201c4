// Finds where a thread begins: beside the bundle in the executable, where no thread can load a module; a module from sources.
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ThreadScript } from '../../../adapters/compute/threads/threads.ts'

/** `bundled`: its name in the executable; `module`: its file here. */
export function findThreadScript(bundled: string, module: URL): ThreadScript {
  const file = join(dirname(fileURLToPath(import.meta.url)), bundled)
  return existsSync(file) ? { source: readFileSync(file, 'utf8') } : { module }
}
