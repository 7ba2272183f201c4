// The standard error of a tool server, in the log at level debug: bounded, readable, and without its secrets.

import { setTimeout as wait } from 'node:timers/promises'
import type { Log } from '../../kernel/telemetry/log.ts'
import { escapeLine } from '../../kernel/text/escape-line.ts'

const max_line_bytes = 4_096
const max_logged_chars = 500
const lines_per_window = 60
const window_ms = 60_000
const bytes_per_second = 262_144

export type ErrorOutputOptions = {
  readonly service: string
  /** Values that are not written, wherever they stand in a line. */
  readonly secrets: readonly string[]
  readonly log: Pick<Log, 'debug'>
  readonly monotonic: () => number
  readonly pause?: (ms: number) => Promise<unknown>
}

/**
 * Reads to the end, since a server would wait for a reader: but no faster than `bytes_per_second`, so that a flood costs its
 * server the time and not the site. What is beyond the lines of a window is counted.
 */
export async function logErrorOutput(stderr: AsyncIterable<Uint8Array>, options: ErrorOutputOptions): Promise<void> {
  const { monotonic, pause = wait } = options
  const window = new LogWindow(options)
  let kept = Buffer.alloc(0)
  let second_ms = monotonic()
  let read_bytes = 0
  for await (const chunk of stderr) {
    kept = window.isFull() ? window.drop(chunk.length) : logWholeLines(kept, Buffer.from(chunk), window)
    read_bytes += chunk.length
    if (read_bytes < bytes_per_second) continue
    await pause(Math.max(0, second_ms + 1_000 - monotonic()))
    second_ms = monotonic()
    read_bytes = 0
  }
  if (kept.length > 0) window.write(kept)
}

/** The rest of the chunk, which is the beginning of a line. */
function logWholeLines(kept: Buffer<ArrayBuffer>, lines: Buffer, window: LogWindow): Buffer<ArrayBuffer> {
  let from = 0
  for (let end = lines.indexOf('\n'); end !== -1; end = lines.indexOf('\n', from)) {
    const line = keepStart(kept, lines.subarray(from, end))
    from = end + 1
    if (line.length > 0) window.write(line)
    kept = Buffer.alloc(0)
    if (window.isFull()) return window.drop(lines.length - from)
  }
  return keepStart(kept, lines.subarray(from))
}

class LogWindow {
  readonly #options: ErrorOutputOptions
  #began_ms: number
  #logged = 0
  #dropped_bytes = 0

  constructor(options: ErrorOutputOptions) {
    this.#options = options
    this.#began_ms = options.monotonic()
  }

  isFull(): boolean {
    const now = this.#options.monotonic()
    if (now - this.#began_ms >= window_ms) {
      this.#began_ms = now
      this.#logged = 0
    }
    return this.#logged >= lines_per_window
  }

  drop(bytes: number): Buffer<ArrayBuffer> {
    this.#dropped_bytes += bytes
    return Buffer.alloc(0)
  }

  write(bytes: Buffer): void {
    const { service, secrets, log } = this.#options
    const line = escapeLine(maskSecrets(bytes.toString(), secrets)).slice(0, max_logged_chars)
    const dropped = this.#dropped_bytes === 0 ? {} : { dropped_bytes: this.#dropped_bytes }
    log.debug('gateway.stdio_server.stderr', { service, line, ...dropped })
    this.#logged += 1
    this.#dropped_bytes = 0
  }
}

/** Copied, so that a short rest does not keep a whole chunk. */
function keepStart(kept: Buffer, more: Buffer): Buffer<ArrayBuffer> {
  return Buffer.concat([kept, more.subarray(0, max_line_bytes - kept.length)])
}

function maskSecrets(text: string, secrets: readonly string[]): string {
  return secrets.filter(Boolean).reduce((masked, secret) => masked.replaceAll(secret, '***'), text)
}
