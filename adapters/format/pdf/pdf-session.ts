// Reads the pages of a document by the part of pdf.js that runs in workers, without the part that shows pages: by the messages between both.
// @ts-expect-error The package has types for its other part alone.
import { WorkerMessageHandler } from 'pdfjs-dist/legacy/build/pdf.worker.mjs'
import type { PdfTextItem } from './text-lines.ts'

type Message = {
  readonly sourceName: string
  readonly targetName: string
  readonly action?: string
  readonly data?: unknown
  readonly callback?: number
  readonly callbackId?: number
  readonly reason?: unknown
  readonly stream?: number
  readonly streamId?: number
  readonly desiredSize?: number
  readonly chunk?: { readonly items: readonly PdfTextItem[] }
}
type MessageListener = (event: { readonly data: Message }) => void

/** Kinds of messages, by the numbers of the library. */
const [isData, isError] = [1, 2]
const [streamEnd, streamPiece, streamError] = [3, 4, 5]
const [us, library, document] = ['main', 'worker', 'document']
/** The library refuses to work for another one. */
const version = '5.6.205'
/** Of characters of a page, that a page is not made of. */
const max_page_items = 500_000

/** One end of the connection. The library changes what it has sent, so each message is copied. */
class LocalPort {
  readonly #listeners: MessageListener[] = []
  other: LocalPort | undefined

  addEventListener(_type: 'message', listener: MessageListener): void {
    this.#listeners.push(listener)
  }

  postMessage(message: Message): void {
    const data = structuredClone(message)
    queueMicrotask(() => this.other?.deliver(data))
  }

  deliver(data: Message): void {
    for (const listener of this.#listeners) listener({ data })
  }
}

/** Nothing is fetched, drawn or compiled, and no font of the system is looked for. */
const evaluatorOptions = {
  ...{ ignoreErrors: true, disableFontFace: true, fontExtraProperties: false, isEvalSupported: false },
  // Leaves out the outlines of the standard fonts, whose texts need none.
  useSystemFonts: true,
  ...{ maxImageSize: 0, canvasMaxAreaInBytes: 0, isOffscreenCanvasSupported: false, isImageDecoderSupported: false },
  ...{ useWasm: false, useWorkerFetch: false, hasGPU: false },
  ...{ cMapUrl: null, iccUrl: null, standardFontDataUrl: null, wasmUrl: null },
}

export type PdfSession = {
  /** The number of pages. Rejects where the document cannot be opened. */
  readonly pages: Promise<number>
  /** `page`: from 0. Rejects where the page cannot be read. */
  readPage(page: number): Promise<PdfTextItem[]>
}

export function openPdfSession(bytes: Uint8Array): PdfSession {
  const client = new PdfClient()
  const request = {
    ...{ docId: document, apiVersion: version, data: bytes, password: null, disableAutoFetch: true },
    ...{ rangeChunkSize: 65_536, docBaseUrl: null, enableXfa: false, evaluatorOptions },
  }
  client.send(us, library, 'configure', { verbosity: 0 })
  const target = client.call(us, library, 'GetDocRequest', request) as Promise<string>
  target.then((name) => client.send(document, name, 'Ready', null))
  return {
    pages: client.opened,
    async readPage(page) {
      const name = await target
      await client.call(document, name, 'GetPage', { pageIndex: page })
      return await client.readTexts(name, page)
    },
  }
}

class PdfClient {
  readonly #port = new LocalPort()
  readonly #calls = new Map<number, PromiseWithResolvers<unknown>>()
  readonly #texts = new Map<
    number,
    { readonly items: PdfTextItem[]; readonly end: PromiseWithResolvers<PdfTextItem[]> }
  >()
  readonly #opened = Promise.withResolvers<number>()
  #number = 0

  constructor() {
    const port = new LocalPort()
    this.#port.other = port
    port.other = this.#port
    this.#port.addEventListener('message', ({ data }) => this.#receive(data))
    WorkerMessageHandler.initializeFromPort(port)
  }

  get opened(): Promise<number> {
    return this.#opened.promise
  }

  send(sourceName: string, targetName: string, action: string, data: unknown): void {
    this.#port.postMessage({ sourceName, targetName, action, data })
  }

  call(sourceName: string, targetName: string, action: string, data: unknown): Promise<unknown> {
    const call = Promise.withResolvers<unknown>()
    const callbackId = ++this.#number
    this.#calls.set(callbackId, call)
    this.#port.postMessage({ sourceName, targetName, action, callbackId, data })
    return call.promise
  }

  readTexts(targetName: string, page: number): Promise<PdfTextItem[]> {
    const end = Promise.withResolvers<PdfTextItem[]>()
    const streamId = ++this.#number
    this.#texts.set(streamId, { items: [], end })
    const data = { pageId: page, pageIndex: page, includeMarkedContent: false, disableNormalization: false }
    // All of a page at once, so that nothing has to be requested again.
    const desiredSize = Number.MAX_SAFE_INTEGER
    this.#port.postMessage({ sourceName: document, targetName, action: 'GetTextContent', streamId, data, desiredSize })
    return end.promise
  }

  #receive(message: Message): void {
    if (message.stream !== undefined) this.#receiveTexts(message)
    else if (message.callback !== undefined) this.#receiveResult(message)
    else this.#receiveAction(message)
  }

  #receiveTexts({ stream, streamId = 0, chunk, reason }: Message): void {
    const texts = this.#texts.get(streamId)
    if (!texts) return
    if (stream === streamPiece && chunk) for (const item of chunk.items) texts.items.push(item)
    if (texts.items.length > max_page_items) texts.end.reject(new Error(`more than ${max_page_items} texts`))
    if (stream === streamError) texts.end.reject(reason)
    if (stream === streamEnd) texts.end.resolve(texts.items)
    if (stream === streamEnd || stream === streamError) this.#texts.delete(streamId)
  }

  #receiveResult({ callback, callbackId = 0, data, reason }: Message): void {
    const call = this.#calls.get(callbackId)
    this.#calls.delete(callbackId)
    if (callback === isData) call?.resolve(data)
    else call?.reject(reason)
  }

  /** The library asks for passwords, and for files that do not come with the document: there are none. */
  #receiveAction({ sourceName, targetName, action, data, callbackId }: Message): void {
    if (action === 'GetDoc') this.#opened.resolve((data as { pdfInfo: { numPages: number } }).pdfInfo.numPages)
    if (action === 'DocException' || action === 'PasswordRequest') this.#opened.reject(data)
    if (callbackId === undefined) return
    const reason = new Error('not available')
    this.#port.postMessage({ sourceName: targetName, targetName: sourceName, callback: isError, callbackId, reason })
  }
}
