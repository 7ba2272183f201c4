// Reads one answer from bytes as they come, wherever they are split, and says when it is over and what is wrong with it.
import { areValidFields, parseResponseHead, type ResponseHead } from './response-head.ts'

export type ResponseParserLimits = {
  /** Of a head with its empty line, and of all trailers. */
  readonly head_bytes: number
  /** Answers of 1xx before the one that counts. */
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

/** A size of at most eight digits; extensions are read over, as RFC 9112, section 7.1.1, asks for. */
const chunkLinePattern = /^([\dA-Fa-f]{1,8})[\t ]*(?:;[\t\x20-\x7e\x80-\xff]*)?\r\n$/
const max_chunk_line_bytes = 256

/** For one connection: `expect` before each request, then `feed` and at the end of the stream `finish`. */
export class ResponseParser {
  readonly #limits: ResponseParserLimits
  readonly #reader: ResponseReader
  #state: ResponseParserState = 'over'
  /** Bytes of a line or block whose end has not come, one character a byte. */
  #buffer = ''
  #remaining_bytes = 0
  #interims = 0
  #isHead = false
  #failure = ''

  constructor(limits: ResponseParserLimits, reader: ResponseReader) {
    this.#limits = limits
    this.#reader = reader
  }

  expect(isHead: boolean): void {
    this.#state = 'head'
    this.#buffer = ''
    this.#interims = 0
    this.#isHead = isHead
  }

  /** The answer is whole. */
  get isOver(): boolean {
    return this.#state === 'over'
  }

  /** Why what came is no answer; empty as long as it is. */
  get failure(): string {
    return this.#failure
  }

  /** How many of the bytes belong to the answer: fewer than there are when it is over, or wrong. */
  feed(bytes: Buffer): number {
    let at = 0
    while (at < bytes.length && this.#state !== 'over' && this.#state !== 'failed') at = this.#step(bytes, at)
    return at
  }

  /** No more bytes will come. True when the answer is whole by that. */
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

  /** Takes bytes up to the mark, which may have begun in an earlier read; a block of more than `most` is no answer. */
  #block(bytes: Buffer, at: number, mark: string, most: number, then: (text: string) => void): number {
    const found = this.#buffer === '' ? bytes.indexOf(mark, at, 'latin1') : -1
    if (found >= 0) {
      const end = found + mark.length
      if (end - at > most) this.#fail('a head or a line is too long')
      else then.call(this, bytes.toString('latin1', at, end))
      return end
    }
    const before = this.#buffer.length
    // What is over the limit need not be looked at, but for one byte that shows that it is.
    const text = this.#buffer + bytes.toString('latin1', at, Math.min(bytes.length, at + most - before + 1))
    const ends = text.indexOf(mark, Math.max(0, before - mark.length + 1))
    const size = ends < 0 ? text.length : ends + mark.length
    if (size > most) this.#fail('a head or a line is too long')
    else if (ends >= 0) {
      this.#buffer = ''
      then.call(this, text.slice(0, size))
    } else if (hasBareLineEnd(text, before) || (this.#state === 'head' && !mayBeHttpHead(text)))
      this.#fail('it does not look like an answer')
    else this.#buffer = text
    return at + size - before
  }

  #onHead(text: string): void {
    const head = parseResponseHead(text, this.#isHead)
    if (typeof head === 'string') this.#fail(head)
    else if (head.status === 101) this.#fail('it switches protocols, which nobody asked for')
    else if (head.status < 200) {
      this.#interims++
      if (this.#interims > this.#limits.interim) this.#fail('it says too often that it goes on')
    } else {
      this.#begin(head)
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
    // The end of this line and an empty one: trailers or none, the block then ends as a head does.
    if (this.#remaining_bytes === 0) this.#buffer = '\r\n'
  }

  #onChunkEnd(line: string): void {
    if (line === '\r\n') this.#state = 'chunk size'
    else this.#fail('a chunk is longer than it says')
  }

  /** Fields that nobody asked for: they are read strictly, and let go. */
  #onTrailers(text: string): void {
    if (areValidFields(text.slice(2))) this.#state = 'over'
    else this.#fail('the trailers are malformed')
  }

  #fail(why: string): void {
    this.#state = 'failed'
    this.#failure = why
  }
}

/** Whether it may become a head of HTTP/1: what greets in another protocol waits in vain for an end of the head. */
const mayBeHttpHead = (text: string) => 'HTTP/1.'.startsWith(text.slice(0, 7))

const bareLineEnd = /(?<!\r)\n|\r[^\n]/g

/** A bare CR or LF will not become right by what follows. What lies before `from` was looked at before. */
function hasBareLineEnd(text: string, from: number): boolean {
  bareLineEnd.lastIndex = Math.max(0, from - 1)
  return bareLineEnd.test(text)
}
