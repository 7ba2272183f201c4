// Entries of a bundle, as read from a folder or an archive: kind, mode and digest of each.
import { createHash } from 'node:crypto'
import { bundleLimits, manifest_file, signature_files } from './bundle-manifest.ts'

/** `bytes`: of the manifest, of signatures, and of checksums. `head`: the first bytes of a file. */
export type BundleEntry = {
  readonly path: string
  readonly kind: 'file' | 'folder' | 'other'
  readonly mode: number
  readonly size: number
  readonly sha256?: string
  readonly bytes?: Uint8Array
  readonly head?: Uint8Array
}

export type BundleContent = {
  /** The name of the folder in an archive; undefined for a folder, which may have any name. */
  readonly folder: string | undefined
  readonly entries: readonly BundleEntry[]
  /** Faults of the container. */
  readonly failures: readonly string[]
}

/** Enough for the header of an ELF file. */
const head_bytes = 64

const keptFiles: readonly string[] = [manifest_file, ...Object.values(signature_files)]

/** Digests one file piece by piece, and keeps those that verification reads. */
export class EntryDigest {
  readonly #hash = createHash('sha256')
  readonly #kept: Buffer[] = []
  readonly #keeps: boolean
  #head = Buffer.alloc(0)
  #size = 0

  constructor(path: string, size: number) {
    this.#keeps = keptFiles.includes(path) && size <= bundleLimits.manifest_bytes
  }

  add(piece: Uint8Array): void {
    this.#hash.update(piece)
    this.#size += piece.length
    if (this.#head.length < head_bytes)
      this.#head = Buffer.concat([this.#head, piece.subarray(0, head_bytes - this.#head.length)])
    if (this.#keeps) this.#kept.push(Buffer.from(piece))
  }

  end(): Pick<BundleEntry, 'size' | 'sha256' | 'head' | 'bytes'> {
    const digest = { size: this.#size, sha256: this.#hash.digest('hex'), head: this.#head }
    return this.#keeps ? { ...digest, bytes: Buffer.concat(this.#kept) } : digest
  }
}
