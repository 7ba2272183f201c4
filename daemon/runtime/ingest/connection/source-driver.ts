// Libraries that read sources: in the executable a compressed script each, which is given to the threads that need it.
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { compileFunction } from 'node:vm'
import { zstdDecompressSync } from 'node:zlib'

/** The script for connections of the type; undefined from sources, and for types that need none. */
export function readPackedDriver(conn_type: string): Uint8Array | undefined {
  const file = join(dirname(fileURLToPath(import.meta.url)), `${conn_type}-driver.cjs.zst`)
  return existsSync(file) ? readFileSync(file) : undefined
}

/** What the script exports, or else the module of the sources. Threads of the executable have no modules beside them. */
export async function loadDriver<T>(packed: Uint8Array | undefined, loadModule: () => Promise<T>): Promise<T> {
  if (!packed) return await loadModule()
  const module = { exports: {} }
  const code = zstdDecompressSync(packed).toString()
  compileFunction(code, ['module', 'exports', 'require'])(module, module.exports, requireBuiltin)
  return module.exports as T
}

function requireBuiltin(name: string): unknown {
  const found = process.getBuiltinModule(name)
  if (found === undefined) throw new Error(`a driver requires ${name}, which is not a module of Node`)
  return found
}
