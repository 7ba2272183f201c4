// The script of the thread that reads PDF: a module of the sources, and in the executable a compressed file beside its modules.
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { zstdDecompressSync } from 'node:zlib'

export type PdfScript = { readonly module: URL } | { readonly source: string }

let provided: Uint8Array | undefined

/** Gives a thread what lies beside the modules of the executable, where it cannot look for it itself. */
export function providePdfScript(packed: Uint8Array | undefined): void {
  provided = packed
}

/** Undefined from sources. */
export function readPackedPdfScript(): Uint8Array | undefined {
  // Scripts of threads have no place.
  const place: string | undefined = import.meta.url
  const file = place === undefined ? '' : join(dirname(fileURLToPath(place)), 'pdf-thread.cjs.zst')
  return existsSync(file) ? readFileSync(file) : undefined
}

/** Undefined in a thread of the executable that was not given it. */
export function loadPdfScript(): PdfScript | undefined {
  const packed = provided ?? readPackedPdfScript()
  if (packed) return { source: zstdDecompressSync(packed).toString() }
  return import.meta.url === undefined ? undefined : { module: new URL('./pdf-thread.ts', import.meta.url) }
}
