// Reads the elements of one path of an XML document as records, in bounded memory.
import { type ByteSource, fillBuffer } from '../../../daemon/kernel/data/byte-source.ts'
import type { DataBlock } from '../../../daemon/kernel/data/data-block.ts'
import { DataFault } from '../../../daemon/kernel/data/data-fault.ts'
import type { DataReadOptions } from '../../../daemon/kernel/data/read-options.ts'
import { openUtf8, type TextEncodingName } from '../../../daemon/kernel/data/utf8-source.ts'
import { readJsonLines } from '../json-lines/read-json-lines.ts'
import { ElementRecord, type ElementValue } from './element-record.ts'
import { XmlReader } from './xml-reader.ts'

/** XML that is parsed at once. */
const piece_bytes = 65_536
const subject = 'not a well-formed XML document'

/** The content of a line: the record of an element, or its fault. */
type XmlLine = { readonly record: Readonly<Record<string, ElementValue>> } | { readonly fault: string }

/**
 * `path`: names of elements from the outermost one, such as `/catalog/book`. The line of a record is its number. A value that an element has several times
 * is a list. Throws `DataFault`.
 */
export async function* readXml(
  source: ByteSource,
  path: string,
  separator: string,
  options: DataReadOptions,
  encoding: TextEncodingName = 'utf-8',
): AsyncGenerator<DataBlock, void, undefined> {
  const lines = new RecordLines(await openUtf8(source, encoding), path)
  yield* readJsonLines(lines, separator, options, 'utf-8', unwrapLine)
}

function unwrapLine(item: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> | string {
  const line = item as XmlLine
  return 'fault' in line ? line.fault : line.record
}

/** The records as lines of JSON, made as they are read. */
class RecordLines implements ByteSource {
  readonly #source: ByteSource
  readonly #path: string
  readonly #piece = new Uint8Array(piece_bytes)
  readonly #encoder = new TextEncoder()
  readonly #record = new ElementRecord()
  readonly #reader: XmlReader
  readonly #names: readonly string[]
  /** Of the elements that are open outside of a record. */
  #depth = 0
  /** How many of those, from the outermost one, have the names of the path. */
  #matched = 0
  #ready: string[] = []
  #line = new Uint8Array(0)
  #hasRecords = false
  #isAtEnd = false

  constructor(source: ByteSource, path: string) {
    this.#source = source
    this.#path = path
    this.#names = path.split('/').slice(1)
    this.#reader = new XmlReader(subject, {
      open: (name, attributes, qualified) => {
        if (this.#record.isOpen || this.#isRecord(name)) this.#record.open(name, attributes, qualified)
      },
      text: (text) => this.#record.text(text),
      close: (name) => this.#close(name),
    })
  }

  async read(into: Uint8Array): Promise<number> {
    while (this.#line.length === 0) {
      const next = this.#ready.shift()
      if (next !== undefined) this.#line = this.#encoder.encode(next)
      else if (this.#isAtEnd) return 0
      else await this.#parse()
    }
    const part = this.#line.subarray(0, into.length)
    into.set(part)
    this.#line = this.#line.subarray(part.length)
    return part.length
  }

  async #parse(): Promise<void> {
    const end = await this.#source.read(this.#piece)
    if (end > 0) {
      this.#reader.write(this.#piece.subarray(0, end))
      return
    }
    this.#reader.end()
    this.#isAtEnd = true
    if (!this.#hasRecords) throw new DataFault(`the document has no element at ${this.#path}`)
  }

  /** Whether the element that begins is at the path. */
  #isRecord(name: string): boolean {
    if (this.#matched === this.#depth && this.#names[this.#depth] === name) this.#matched++
    this.#depth++
    return this.#matched === this.#depth && this.#depth === this.#names.length
  }

  #close(name: string): void {
    if (this.#record.isOpen) {
      this.#record.close(name)
      if (this.#record.isOpen) return
      const record = this.#record.take()
      const line: XmlLine = typeof record === 'string' ? { fault: record } : { record }
      this.#ready.push(`${JSON.stringify(line)}\n`)
      this.#hasRecords = true
    }
    this.#depth--
    this.#matched = Math.min(this.#matched, this.#depth)
  }
}

/** XML by which the elements of records are found. */
const sample_bytes = 4_194_304
const max_paths = 20

/** A longer path is nobody's. */
const max_path_characters = 1_024

type SampledElement = { readonly path: string; readonly counts: Map<string, number>; readonly hasAttributes: boolean }

/**
 * Paths of elements that their parent has several times and that are within no other such element; the first ones. In a document without
 * any, the only element of the outermost one, if it has values of its own. Reads the beginning alone. Throws `DataFault`.
 */
export async function findRecordPaths(source: ByteSource): Promise<string[]> {
  const repeated = new Set<string>()
  const open: SampledElement[] = []
  const children: SampledElement[] = []
  const reader = new XmlReader(subject, {
    open(name, attributes) {
      const parent = open.at(-1)
      const path = `${parent?.path ?? ''}/${name}`
      const count = (parent?.counts.get(name) ?? 0) + 1
      parent?.counts.set(name, count)
      if (count === 2 && path.length <= max_path_characters) repeated.add(path)
      const element = { path, counts: new Map<string, number>(), hasAttributes: Object.keys(attributes).length > 0 }
      if (open.push(element) === 2 && children.length < 2) children.push(element)
    },
    close: () => void open.pop(),
  })
  await readSample(source, reader)
  const outermost = [...repeated].filter((path) => !hasAncestor(path, repeated))
  if (outermost.length > 0) return outermost.slice(0, max_paths)
  const [only, another] = children
  return only && !another && (only.hasAttributes || only.counts.size > 0) ? [only.path] : []
}

async function readSample(source: ByteSource, reader: XmlReader): Promise<void> {
  const sample = new Uint8Array(sample_bytes)
  const end = await fillBuffer(source, sample, 0)
  for (let at = 0; at < end; at += piece_bytes) reader.write(sample.subarray(at, Math.min(end, at + piece_bytes)))
  if (end < sample_bytes) reader.end()
}

function hasAncestor(path: string, paths: ReadonlySet<string>): boolean {
  for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1))
    if (paths.has(path.slice(0, at))) return true
  return false
}

/** The encoding that the declaration of the document names; undefined without one, or in another than an ASCII-compatible encoding. */
export function readDeclaredEncoding(beginning: Uint8Array): string | undefined {
  const text = Buffer.from(beginning).toString('latin1')
  return /^(?:\xef\xbb\xbf)?<\?xml\s[^>]{0,200}?\sencoding\s*=\s*["']([A-Za-z][\w.-]{0,40})["']/.exec(text)?.[1]
}
