// Opens a PDF in a thread of its own: the library that reads it reserves what a document claims, so the thread is ended beyond its limits of memory and time.
import { Worker } from 'node:worker_threads'
import * as z from 'zod'
import type { RangeSource } from '../../../daemon/kernel/data/byte-source.ts'
import { DataFault } from '../../../daemon/kernel/data/data-fault.ts'
import { loadPdfScript, type PdfScript } from './pdf-script.ts'
import type { PdfLine } from './text-lines.ts'

/** The document is in memory, and what is unpacked of it. */
const max_file_bytes = 134_217_728
const max_unpacked_bytes = 268_435_456
const max_heap_mb = 256
const max_pages = 100_000
/** Of the opening, and of each page. */
const time_limit_ms = 60_000
const watch_interval_ms = 50

const reply = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('opened'), pages: z.int().min(0) }),
  z.strictObject({ kind: z.literal('failed'), name: z.string().optional(), message: z.string().optional() }),
  z.strictObject({ kind: z.literal('page'), page: z.int(), lines: z.array(z.custom<PdfLine>()) }),
  z.strictObject({ kind: z.literal('bad_page'), page: z.int(), message: z.string().optional() }),
])
type PdfReply = z.infer<typeof reply>

export type PdfDocument = {
  readonly pages: number
  /** `page`: from 1. Throws `DataFault` for a bad page; `isOver` of the document then says whether the thread has ended. */
  readLines(page: number): Promise<readonly PdfLine[]>
  isOver(): boolean
  close(): Promise<void>
}

/** Throws `DataFault`, and what the file throws. The caller closes the document. */
export async function openPdf(file: RangeSource): Promise<PdfDocument> {
  if (file.size > max_file_bytes) throw new DataFault(`more than ${max_file_bytes} bytes`)
  const head = Buffer.from(file.read(0, Math.min(1_024, file.size)))
  if (!head.includes('%PDF-')) throw new DataFault('damaged, or not a PDF')
  const script = loadPdfScript()
  if (!script) throw new DataFault('a PDF, which is not read here: land it, and name the dataset')
  const thread = new PdfThread(script, new Uint8Array(file.read(0, file.size)), file.size)
  try {
    const pages = await thread.open()
    return {
      pages,
      readLines: (page) => thread.readPage(page),
      isOver: () => thread.isOver,
      close: () => thread.end(),
    }
  } catch (error) {
    await thread.end()
    throw error
  }
}

class PdfThread {
  readonly #worker: Worker
  readonly #first: Promise<PdfReply>
  #waiting: PromiseWithResolvers<PdfReply> | undefined
  #limit: string | undefined
  isOver = false

  constructor(script: PdfScript, bytes: Uint8Array<ArrayBuffer>, file_bytes: number) {
    const options = {
      ...{ workerData: bytes, transferList: [bytes.buffer], env: {}, execArgv: [], stdout: true, stderr: true },
      resourceLimits: { maxOldGenerationSizeMb: max_heap_mb },
    }
    this.#worker =
      'module' in script ? new Worker(script.module, options) : new Worker(script.source, { ...options, eval: true })
    this.#first = this.#receive()
    this.#worker.on('message', (message) => this.#answer(message))
    this.#worker.on('error', (error) => this.#fail(error))
    this.#worker.on('exit', () => this.#fail(undefined))
    const watch = setInterval(() => void this.#checkMemory(file_bytes), watch_interval_ms)
    this.#worker.once('exit', () => clearInterval(watch))
  }

  /** Buffers are not part of the heap that the thread is held to. */
  async #checkMemory(file_bytes: number): Promise<void> {
    const { external_memory } = await this.#worker.getHeapStatistics().catch(() => ({ external_memory: 0 }))
    if (external_memory <= max_unpacked_bytes + file_bytes) return
    this.#limit = `it unpacks to more than ${max_unpacked_bytes} bytes`
    await this.#worker.terminate()
  }

  /** What a document makes of the library is not trusted: another reply ends the thread. */
  #answer(message: unknown): void {
    const { success, data } = reply.safeParse(message)
    if (success) this.#waiting?.resolve(data)
    else void this.#worker.terminate()
  }

  #fail(error: unknown): void {
    this.isOver = true
    const isOutOfMemory = (error as { code?: string } | undefined)?.code === 'ERR_WORKER_OUT_OF_MEMORY'
    const reason = this.#limit ?? (isOutOfMemory ? 'it needs too much memory' : undefined)
    // A document can end the library in a way that nobody foresaw.
    this.#waiting?.reject(new DataFault(reason ?? 'damaged: it cannot be read'))
  }

  async #receive(): Promise<PdfReply> {
    if (this.isOver) throw new DataFault('damaged: it cannot be read')
    const waiting = Promise.withResolvers<PdfReply>()
    this.#waiting = waiting
    const timer = setTimeout(() => {
      this.#limit = `it takes more than ${time_limit_ms / 1_000} s`
      void this.#worker.terminate()
    }, time_limit_ms)
    try {
      return await waiting.promise
    } finally {
      clearTimeout(timer)
    }
  }

  async open(): Promise<number> {
    const answer = await this.#first
    if (answer.kind === 'failed') throw new DataFault(describeFailure(answer))
    if (answer.kind !== 'opened') throw new DataFault('damaged: it cannot be read')
    if (answer.pages > max_pages) throw new DataFault(`more than ${max_pages} pages`)
    return answer.pages
  }

  async readPage(page: number): Promise<readonly PdfLine[]> {
    const received = this.#receive()
    this.#worker.postMessage(page - 1)
    const answer = await received
    if (answer.kind === 'page') return answer.lines
    throw new DataFault(`damaged: page ${page} cannot be read`)
  }

  async end(): Promise<void> {
    this.isOver = true
    await this.#worker.terminate()
  }
}

function describeFailure({
  name,
  message,
}: {
  readonly name?: string | undefined
  readonly message?: string | undefined
}): string {
  const isPassword = name === 'PasswordException' || /password/i.test(message ?? '')
  return isPassword ? 'encrypted: remove the password' : 'damaged, or not a PDF'
}
