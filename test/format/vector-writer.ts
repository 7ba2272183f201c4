// Writes documents into the folder of the vectors, and lists them with the verdict that they must get.
import * as fs from 'node:fs'
import { dirname, join } from 'node:path'

export type Vector = {
  /** The file, in the folder of the vectors. */
  readonly path: string
  /** The keys that decide, as `verify_filedrop.py` takes them. */
  readonly keys: string
  readonly threshold?: number
  readonly root_threshold?: number
  /** The class of the reason; absent for a document that holds. */
  readonly reason?: string
}

export type VectorWriter = { readonly dir: string; readonly vectors: Vector[] }

export function writeText({ dir }: VectorWriter, path: string, text: string): void {
  fs.mkdirSync(dirname(join(dir, path)), { recursive: true })
  fs.writeFileSync(join(dir, path), text)
}

export const alpha_keys = 'keys/alpha.json'

export function writeDocument(writer: VectorWriter, path: string, text: string, vector: Partial<Vector> = {}): void {
  writeText(writer, path, text)
  writer.vectors.push({ path, keys: alpha_keys, ...vector })
}
