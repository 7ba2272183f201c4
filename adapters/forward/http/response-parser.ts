// Parses one response from bytes as they arrive, wherever they are split, and reports its end or its fault.
import { areValidFields, parseResponseHead, type ResponseHead } from './response-head.ts'

export type ResponseParserLimits = {
  /** Of a head with its empty line, and of all trailers. */
  readonly head_bytes: number
  /** 1xx responses before the final one. */
  readonly interim: number
}

export type ResponseReader = {
  head(head: ResponseHead): void
  data(bytes: Buffer): void
}

type ResponseParserState =
  | 'head'
  | 'length'
  | 'close'
  | 'chunk size'
  | 'chunk'
  | 'chunk end'
  | 'trailers'
  | 'over'
  | 'failed'

/** A size of at most eight digits; extensions are ignored, as RFC 9112, section 7.1.1, requires. */
const chunkLinePattern = /^([\dA-Fa-f]{1,8})[\t ]*(?:;[\t\x20-\x7e\x80-\xff]*)?\r\n$/
const max_chunk_line_bytes = 256

/** For one connection: `expect` before each request, then `feed` and at the end of the stream `finish`. */
export class ResponseParser {
  readonly #limits: ResponseParserLimits
  readonly #reader: ResponseReader
  #state: ResponseParserState = 'over'
  /** Bytes of a line or block whose end has not arrived, one character per byte. */
  #buffer = ''
  #remaining_bytes = 0
  #interims = 0
  #isHead = false
  #isUpgrade = false
  #failure = ''

  constructor(limits: ResponseParserLimits, reader: ResponseReader) {
    this.#limits = limits
    this.#reader = reader
  }

  /** `isUpgrade`: the request offers a switch of protocols. The bytes after status 101 are data then. */
  expect(isHead: boolean, isUpgrade = false): void {
    this.#state = 'head'
    this.#isUpgrade = isUpgrade
    this.#buffer = ''
    this.#interims = 0
    this.#isHead = isHead
  }

  /** The response is complete. */
  get isOver(): boolean {
    return this.#state === 'over'
  }

  /** Why the bytes are not a response; empty while they are. */
  get failure(): string {
    return this.#failure
  }

  /** How many of the bytes belong to the response: fewer than given when it is complete, or faulty. */
  feed(bytes: Buffer): number {
    let at = 0
    while (at < bytes.length && this.#state !== 'over' && this.#state !== 'failed') at = this.#step(bytes, at)
    return at
  }

  /** The stream has ended. True when that completes the response. */
  finish(): boolean {
    if (this.#state === 'close') this.#state = 'over'
    return this.#state === 'over'
  }

  #step(bytes: Buffer, at: number): number {
    switch (this.#state) {
      case 'head':
        return this.#block(bytes, at, '\r\n\r\n', this.#limits.head_bytes, this.#onHead)
      case 'chunk size':
        return this.#block(bytes, at, '\r\n', max_chunk_line_bytes, this.#onChunkSize)
      case 'chunk end':
        return this.#block(bytes, at, '\r\n', 2, this.#onChunkEnd)
      case 'trailers':
        return this.#block(bytes, at, '\r\n\r\n', this.#limits.head_bytes, this.#onTrailers)
      case 'close':
        this.#reader.data(at === 0 ? bytes : bytes.subarray(at))
        return bytes.length
      default:
        return this.#body(bytes, at)
    }
  }

  #body(bytes: Buffer, at: number): number {
    const end = Math.min(bytes.length, at + this.#remaining_bytes)
    this.#remaining_bytes -= end - at
    if (this.#remaining_bytes === 0) this.#state = this.#state === 'chunk' ? 'chunk end' : 'over'
    this.#reader.data(bytes.subarray(at, end))
    return end
  }

  /** Takes bytes up to the mark, which may have begun in an earlier read; a block of more than `most` bytes is a fault. */
  #block(bytes: Buffer, at: number, mark: string, most: number, then: (text: string) => void): number {
    const found = this.#buffer === '' ? bytes.indexOf(mark, at, 'latin1') : -1
    if (found >= 0) {
      const end = found + mark.length
      if (end - at > most) this.#fail('a head or a line is too long')
      else then.call(this, bytes.toString('latin1', at, end))
      return end
    }
    const before = this.#buffer.length
    // Bytes beyond the limit are not searched, except for the one that shows that the limit is exceeded.
    const text = this.#buffer + bytes.toString('latin1', at, Math.min(bytes.length, at + most - before + 1))
    const ends = text.indexOf(mark, Math.max(0, before - mark.length + 1))
    const size = ends < 0 ? text.length : ends + mark.length
    if (size > most) this.#fail('a head or a line is too long')
    else if (ends >= 0) {
      this.#buffer = ''
      then.call(this, text.slice(0, size))
    } else if (hasBareLineEnd(text, before) || (this.#state === 'head' && !mayBeHttpHead(text)))
      this.#fail('the bytes are not an HTTP/1 response')
    else this.#buffer = text
    return at + size - before
  }

  #onHead(text: string): void {
    const head = parseResponseHead(text, this.#isHead)
    if (typeof head === 'string') this.#fail(head)
    else if (head.status === 101) this.#onSwitch(head)
    else if (head.status < 200) {
      this.#interims++
      if (this.#interims > this.#limits.interim) this.#fail('too many interim (1xx) responses')
    } else {
      this.#begin(head)
      this.#reader.head(head)
    }
  }

  #onSwitch(head: ResponseHead): void {
    const protocols = head.rawHeaders.filter(
      (_, at) => at % 2 === 1 && head.rawHeaders[at - 1]?.toLowerCase() === 'upgrade',
    )
    if (!this.#isUpgrade) this.#fail('the upstream switches protocols without a request for it')
    else if (protocols.length !== 1 || protocols[0]?.toLowerCase() !== 'websocket')
      this.#fail('the upstream switches to another protocol than the requested one')
    else {
      this.#state = 'close'
      this.#reader.head(head)
    }
  }

  #begin({ framing }: ResponseHead): void {
    if (framing === 'chunked') this.#state = 'chunk size'
    else if (framing === 'close') this.#state = 'close'
    else {
      this.#remaining_bytes = framing
      this.#state = framing === 0 ? 'over' : 'length'
    }
  }

  #onChunkSize(line: string): void {
    const size = chunkLinePattern.exec(line)?.[1]
    if (size === undefined) {
      this.#fail('the size of a chunk is malformed')
      return
    }
    this.#remaining_bytes = Number.parseInt(size, 16)
    this.#state = this.#remaining_bytes === 0 ? 'trailers' : 'chunk'
    // The end of this line and an empty one: with or without trailers, the block ends as a head does.
    if (this.#remaining_bytes === 0) this.#buffer = '\r\n'
  }

  #onChunkEnd(line: string): void {
    if (line === '\r\n') this.#state = 'chunk size'
    else this.#fail('a chunk is longer than its size')
  }

  /** Trailer fields: parsed strictly, and dropped. */
  #onTrailers(text: string): void {
    if (areValidFields(text.slice(2))) this.#state = 'over'
    else this.#fail('the trailers are malformed')
  }

  #fail(why: string): void {
    this.#state = 'failed'
    this.#failure = why
  }
}

/** Whether it can be the start of an HTTP/1 head: a greeting of another protocol would never end one. */
const mayBeHttpHead = (text: string) => 'HTTP/1.'.startsWith(text.slice(0, 7))

const bareLineEnd = /(?<!\r)\n|\r[^\n]/g

/** Finds a bare CR or LF, which later bytes cannot correct. Bytes before `from` were checked before. */
function hasBareLineEnd(text: string, from: number): boolean {
  bareLineEnd.lastIndex = Math.max(0, from - 1)
  return bareLineEnd.test(text)
}
