// The keys of a scan, each once: on the disk by parts of their digests, of which one at a time is in memory.
import { createHash } from 'node:crypto'
import { closeSync, mkdirSync, openSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { RowSourceError } from '../../../daemon/shared/row-source/row-source.ts'
import { writeFully } from '../../platform/durable-file/write-durably.ts'

const parts = 64
const buffered_bytes = 65_536
/** A part of them is some 64 MB. */
const max_total_bytes = 4_294_967_296

export class KeySpool {
  readonly #folder: string
  readonly #pending: Buffer[][] = Array.from({ length: parts }, () => [])
  readonly #pending_bytes = new Array<number>(parts).fill(0)
  readonly #files = new Map<number, number>()
  #total_bytes = 0

  /** `folder`: a new one, which `close` removes. */
  constructor(folder: string) {
    this.#folder = folder
    mkdirSync(folder, { mode: 0o700 })
  }

  /** Throws `RowSourceError` where there are too many. */
  add(key: Buffer): void {
    const part = (createHash('sha256').update(key).digest()[0] ?? 0) % parts
    const length = Buffer.alloc(4)
    length.writeUInt32BE(key.length)
    this.#pending[part]?.push(length, key)
    this.#total_bytes += key.length + 4
    if (this.#total_bytes > max_total_bytes)
      throw new RowSourceError(`the keys have more than ${max_total_bytes} bytes: name a pattern of fewer`)
    this.#pending_bytes[part] = (this.#pending_bytes[part] ?? 0) + key.length + 4
    if (this.#pending_bytes[part] >= buffered_bytes) this.#flush(part)
  }

  #flush(part: number): void {
    const file = this.#files.get(part) ?? openSync(this.#nameOf(part), 'ax', 0o600)
    this.#files.set(part, file)
    writeFully(file, Buffer.concat(this.#pending[part] ?? []))
    this.#pending[part] = []
    this.#pending_bytes[part] = 0
  }

  #nameOf(part: number): string {
    return join(this.#folder, `keys-${part}`)
  }

  /** Each key once, in blocks, once all were added. */
  *blocks(size: number): Generator<readonly Buffer[]> {
    for (let part = 0; part < parts; part++) {
      const written = this.#files.has(part) ? readFileSync(this.#nameOf(part)) : Buffer.alloc(0)
      const seen = new Set<string>()
      let block: Buffer[] = []
      for (const key of splitKeys(Buffer.concat([written, ...(this.#pending[part] ?? [])]))) {
        const text = key.toString('latin1')
        if (seen.has(text)) continue
        seen.add(text)
        block.push(key)
        if (block.length < size) continue
        yield block
        block = []
      }
      if (block.length > 0) yield block
    }
  }

  close(): void {
    for (const file of this.#files.values()) closeSync(file)
    this.#files.clear()
    rmSync(this.#folder, { recursive: true, force: true })
  }
}

function* splitKeys(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; ) {
    const end = at + 4 + bytes.readUInt32BE(at)
    yield bytes.subarray(at + 4, end)
    at = end
  }
}
