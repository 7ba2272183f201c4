// Reads XML piece by piece: elements without their prefixes, no entities of its own, and texts to a limit.
import { SaxesParser } from 'saxes'
import { DataFault } from '../../../daemon/kernel/data/data-fault.ts'

export type XmlAttributes = Readonly<Record<string, string>>

export type XmlListener = {
  /** `name` is without its prefix, `qualified` with it. */
  open?(name: string, attributes: XmlAttributes, qualified: string): void
  text?(text: string): void
  close?(name: string): void
}

const max_text_bytes = 4_194_304
const max_depth = 64
const max_message_characters = 200

export class XmlReader {
  readonly #parser = new SaxesParser({ position: false })
  readonly #decoder = new TextDecoder('utf-8', { fatal: true })
  readonly #subject: string
  /** Bytes since the last element, which the parser holds. */
  #held_bytes = 0
  #depth = 0

  /** `subject`: begins the messages of faults. A document type may only refer to an external one, which is never read. */
  constructor(subject: string, listener: XmlListener) {
    this.#subject = subject
    const parser = this.#parser
    parser.on('error', ({ message }) => {
      throw this.#fault(message.slice(0, max_message_characters))
    })
    parser.on('doctype', (doctype) => {
      if (doctype.includes('[')) throw this.#fault('it has a document type with declarations, which are not read')
    })
    parser.on('opentag', ({ name, attributes }) => {
      this.#held_bytes = 0
      if (++this.#depth > max_depth) throw this.#fault('elements are nested too deeply')
      listener.open?.(localName(name), attributes as XmlAttributes, name)
    })
    parser.on('closetag', ({ name }) => {
      this.#held_bytes = 0
      this.#depth--
      listener.close?.(localName(name))
    })
    if (listener.text) {
      const onText = listener.text.bind(listener)
      parser.on('text', onText)
      parser.on('cdata', onText)
    }
  }

  /** Throws `DataFault`. */
  write(bytes: Uint8Array): void {
    this.#held_bytes += bytes.length
    this.#parser.write(this.#decode(bytes))
    if (this.#held_bytes > max_text_bytes) throw new DataFault(`a text of more than ${max_text_bytes} bytes`)
  }

  end(): void {
    this.#parser.write(this.#decode())
    this.#parser.close()
  }

  #decode(bytes?: Uint8Array): string {
    try {
      return bytes ? this.#decoder.decode(bytes, { stream: true }) : this.#decoder.decode()
    } catch {
      throw this.#fault('it is not UTF-8')
    }
  }

  #fault(reason: string): DataFault {
    return new DataFault(`${this.#subject}: ${reason}`)
  }
}

/** The name of an element or attribute without its prefix. */
export function localName(name: string): string {
  const colon = name.indexOf(':')
  return colon < 0 ? name : name.slice(colon + 1)
}
